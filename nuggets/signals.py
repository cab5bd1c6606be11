"""What apps above can be told of."""

from django.dispatch import Signal

# Sent with bank, in the transaction that finishes it, once its new edition is there.
bank_finished = Signal()
