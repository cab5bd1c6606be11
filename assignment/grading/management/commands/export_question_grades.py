from assessor.exports.management.exporting import command

Command = command("question_grades")
