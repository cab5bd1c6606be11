from assessor.exports.management.exporting import command

Command = command("assignments")
