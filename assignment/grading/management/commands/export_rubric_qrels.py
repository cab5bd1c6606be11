from assessor.exports.management.exporting import command

Command = command("rubric_qrels")
