from assessor.exports.management.exporting import command

Command = command("questions")
