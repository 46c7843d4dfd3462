"""What campaigns show, as one HTML file: numbers, charts, and every episode to read.

`page` puts the sections in order; `campaigns` reads folders of ``tbx eval``; `episodes` says what of an attempt is
shown and `packing` how thousands of them fit into a file. Python writes the numbers as markup, through `markup`, which
escapes whatever it did not make; the page's own script (`assets/*.js`) only lists and shows episodes, and puts words in
as text, never as markup. No network, no library. Refuses to guess: what is not known is shown as unknown.
"""
