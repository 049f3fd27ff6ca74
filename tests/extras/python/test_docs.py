"""The examples of docs/python.md run, one after the other, as they stand there."""

import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/python.md"


def test_the_examples_run(model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").symlink_to(model)
    (tmp_path / "in.en").write_text("A man walks.\nThe dog sleeps.\n")
    examples = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(examples) >= 7
    names = {}
    for example in examples:
        exec(compile(example, str(PAGE), "exec"), names)
    assert len((tmp_path / "out.de").read_text().splitlines()) == 2
    printed = capsys.readouterr().out
    assert "beam_size 0: must be from 1 to 1000" in printed and "tok:13a" in printed
