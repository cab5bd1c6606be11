"""Notices that a job, an import or a person's topic has ended, sent to webhooks and mailed, again until taken."""
