"""How pages write days and times (Django's FORMAT_MODULE_PATH)."""
