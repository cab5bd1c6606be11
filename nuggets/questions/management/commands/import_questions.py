from nuggets.management.commands import import_nuggets


class Command(import_nuggets.Command):
    help = "Import banks of questions (NuggetBank v3, RAGTIME's forms, ARGUE v1) under a condition of their own."
    kind = "questions"
