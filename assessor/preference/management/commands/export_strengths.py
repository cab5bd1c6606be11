from assessor.exports.management.exporting import command

Command = command("strengths")
