"""An endpoint of the chat-completions API with no model behind it.

It reads the project's own prompts and answers by shared words, the same request always in the same way, so that the
whole product can run, be shown and be tested over real HTTP without a key. Its knobs make it slow and faulty.

request.py reads what came, asked.py what is asked, answers.py decides, writing.py spells the answer out, fate.py
draws what goes wrong, journal.py keeps the log, app.py ties it together, serving.py listens.
"""
