"""What apps above can be told of."""

from django.dispatch import Signal

# Sent with job, outside transactions, once a process has done what it could of a job, ended or not.
# What receivers do undoes nothing.
job_worked_on = Signal()

# Sent with condition, in the transaction that launches a job: a receiver raises JobError where there can be none now.
job_launching = Signal()
