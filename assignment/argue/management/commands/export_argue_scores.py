from assessor.exports.management.exporting import command

Command = command("argue_scores")
