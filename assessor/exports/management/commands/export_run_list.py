from assessor.exports.management.exporting import command

Command = command("run_list")
