"""What scripts/check_gpu does on a machine with a GPU: ITEMS is the list."""

import collections
import ctypes
import functools
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ("model_ops", "model", "inference_torch", "training_loss", "training", "training_start")  # with tests of tensors


class Failed(Exception):
    """An item's check has failed."""


class Skipped(Exception):
    """An item cannot be done here."""


def end_with_parent():
    """The kernel kills this process when its parent has ended, however that happened."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def torch_libraries():
    """The folder of the LibTorch that python3 has."""
    found = importlib.util.find_spec("torch")
    return str(pathlib.Path(found.submodule_search_locations[0]) / "lib") if found else ""


class Place:
    """The programs, a folder to work in, and whether there is a GPU or its stand-in."""

    def __init__(self, given):
        self.given = given
        self.programs = pathlib.Path(given.programs).resolve()
        self.work = pathlib.Path(given.work).resolve() / given.item
        self.common = self.work.parent / "common"  # what several items use
        self.is_stand_in = bool(given.stand_in)

    def small(self, here, on_gpu):
        """`here` on the stand-in, which is slow, and `on_gpu` on a GPU."""
        return here if self.is_stand_in else on_gpu

    def command(self, program, *arguments):
        return [str(word) for word in (self.programs / program, *arguments)]

    def environment(self, **more):
        result = dict(os.environ, **more)
        if (self.programs / "libraries").exists():
            result["LD_LIBRARY_PATH"] = f"{self.programs / 'libraries'}:{self.given.torch_libraries or torch_libraries()}"
        if self.is_stand_in:
            result["LD_PRELOAD"] = str(pathlib.Path(self.given.stand_in).resolve())
        return result

    def start(self, command, environment, **options):
        return subprocess.Popen(command, env=environment, preexec_fn=end_with_parent, text=True, errors="replace", **options)

    def finish(self, command, input_file=os.devnull, **variables):
        """The command's exit code, standard output and standard error."""
        with open(input_file, encoding="utf-8") as text:
            process = self.start(command, self.environment(**variables), stdin=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            return process, *process.communicate()

    def output(self, command, **options):
        """Standard output and standard error of a command that must end with 0."""
        process, output, errors = self.finish(command, **options)
        if process.returncode != 0:
            raise Failed(f"exit code {process.returncode}: {' '.join(command)}\n{output[-2000:]}\n{errors[-4000:]}")
        return output, errors

    def json_of(self, program, *arguments):
        return json.loads(self.output(self.command(program, *arguments))[0].strip().splitlines()[-1])

    def python(self, script, *arguments):
        """The last line of a script of bench/, which runs without the stand-in and our libraries."""
        command = [sys.executable, *map(str, (ROOT / "bench" / script, *arguments))]
        run = subprocess.run(command, preexec_fn=end_with_parent, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise Failed(f"exit code {run.returncode}: {' '.join(command)}\n{run.stdout[-2000:]}\n{run.stderr[-4000:]}")
        return json.loads(run.stdout.strip().splitlines()[-1])


# ---- correctness ------------------------------------------------------------------------------------------------------------

def unit_tests(place, room, pattern="*", before=(), shards=1):
    """The number of the tests that have passed on the device, the names of those that were skipped; and the output."""
    command = (*before, *place.command(f"tests/{room}_test", f"--gtest_filter={pattern}"))
    outputs = [place.work / f"output-{shard}" for shard in range(shards)]  # the runner reports their ends if time runs out
    processes = []
    for shard, path in enumerate(outputs):
        environment = place.environment(DRAGOMAN_TEST_DEVICE="cuda", GTEST_TOTAL_SHARDS=str(shards), GTEST_SHARD_INDEX=str(shard))
        with open(path, "w", encoding="utf-8") as file:
            processes.append(place.start(command, environment, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT))
    codes = [process.wait() for process in processes]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in outputs]
    output = "\n".join(texts)
    passed, skipped, failed = (sorted(set(re.findall(rf"^\[ +{outcome} +\] ([^\s,]+\.[^\s,]+)", output, re.MULTILINE)))
                               for outcome in ("OK", "SKIPPED", "FAILED"))
    if failed or any(codes):
        told = [text for name in failed
                for text in re.findall(rf"^\[ RUN +\] {re.escape(name)}\n(.*?)^\[ ", output, re.MULTILINE | re.DOTALL)]
        crashed = [text[-3000:] for text, code in zip(texts, codes) if code not in (0, 1)]
        raise Failed("\n".join([f"exit codes {codes}, {len(passed)} passed, failed: {failed}", *(text[:1500] for text in told), *crashed]))
    return {"passed": len(passed), "skipped": skipped}, output


def device_tests(place, room):
    result, output = unit_tests(place, room, shards=place.small(1, 4))
    if result["passed"] == 0:
        raise Failed(f"no test was run\n{output[-2000:]}")
    return result


def flash_attention(place):
    result, output = unit_tests(place, "model_ops", "*FlashAttentionIsEquationOne*")
    if result["passed"] == 0:
        raise Failed(f"flash attention was not taken\n{output[-2000:]}")
    return result


def graph(place):
    searches = place.small("RecordedSteps*Samples*", "RecordedSteps*")
    results = {room: unit_tests(place, room, pattern)[0] for room, pattern in
               (("model_ops", "*Graph*"), ("training", "*Graph*"), ("inference_torch", searches))}
    if not any(result["passed"] for result in results.values()):
        raise Skipped("no test captures a graph")
    return results


def sample(place, lines):
    """A folder with a generated text."""
    folder = place.work / "sample"
    place.output(place.command("dragoman", "sample", "--quiet", "-o", folder, "--train-size", lines, "--test-size", 200))
    return folder


def training(place, text, output, *options):
    """The command that trains a small model, without validations."""
    tiny = ("--d-model", 32, "--heads", 2, "--d-ff", 64, "--encoder-layers", 1, "--decoder-layers", 1, "--threads", 1)
    return place.command("dragoman", "train", "-o", place.work / output, "--train-src", text / "train.en", "--train-tgt", text / "train.de",
                         "--valid-fraction", 0, "--preset", "small", "--vocab-size", 500, "--warmup-updates", 20,
                         *place.small(tiny, ()), *options)


def logged_losses(folder):
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    return [line["loss"] for line in lines if line["type"] == "update"]


def largest_difference(a, b):
    if len(a) != len(b) or not a:
        raise Failed(f"{len(a)} and {len(b)} losses")
    return max(abs(x - y) for x, y in zip(a, b))


def losses(place):
    """fp32, with dropout everywhere: the same masks on both devices."""
    text = sample(place, 2000)
    of_device = {}
    for device in ("cpu", "cuda"):
        place.output(training(place, text, device, "--device", device, "--precision", "fp32", "--max-updates", 20, "--log-every", 1,
                                 "--max-tokens", place.small(400, 1000), "--attention-dropout", 0.1, "--activation-dropout", 0.1))
        of_device[device] = logged_losses(place.work / device)
    difference = largest_difference(*of_device.values())
    if len(of_device["cpu"]) != 20 or difference > 1e-4:
        raise Failed(f"the losses differ by {difference}: {of_device}")
    return {"largest_difference": difference, "last_loss": of_device["cuda"][-1]}


def tensors(path):
    """The bytes of a safetensors file after its header, whose length stands first."""
    content = path.read_bytes()
    return content[8 + int.from_bytes(content[:8], "little"):]


def kill_at(place, command, log, update):
    """Starts the training, and kills it when its log has reached an update. Returns whether it lived that long."""
    process = place.start(command, place.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        if log.exists() and any(f'"update":{u},' in log.read_text(encoding="utf-8") for u in range(update, update + 20)):
            process.kill()
            process.wait()
            return True
        time.sleep(0.01)
    return False


def resume(place):
    """Once in bf16, as a run on a GPU is by default, and once in fp32."""
    updates = place.small(60, 200)
    text = sample(place, 2000)
    result = {}
    for precision in ("bf16", "fp32"):
        options = ("--device", "cuda", "--precision", precision, "--max-updates", updates, "--save-every", 5, "--log-every", 5,
                   "--max-tokens", 800)
        place.output(training(place, text, f"{precision}-straight", *options))
        killed = training(place, text, f"{precision}-killed", *options)
        log = place.work / f"{precision}-killed/log.jsonl"
        kills = sum(kill_at(place, killed, log, updates * third // 3) for third in (1, 2))
        _, errors = place.output(killed)
        if kills == 0 or "resumed from" not in errors:
            raise Failed(f"killed {kills} times, but not resumed\n{errors[-4000:]}")
        for name in ("model.safetensors", f"checkpoints/update-{updates:08}.safetensors"):
            if tensors(place.work / f"{precision}-straight" / name) != tensors(place.work / f"{precision}-killed" / name):
                raise Failed(f"{precision}, killed {kills} times: {name} is not that of the run that was left alone")
        result[precision] = {"kills": kills, "updates": updates}
    return result


def split(place):
    """With a limit on the device's memory, and without one."""
    text = sample(place, place.small(2000, 6000))
    limit = place.small({"CUDA_STAND_IN_MIB": "40"}, {"PYTORCH_CUDA_ALLOC_CONF": "per_process_memory_fraction:0.02"})
    found = {}
    for name, variables in (("whole", {}), ("split", limit)):
        command = training(place, text, name, "--device", "cuda", "--precision", "fp32", "--max-updates", place.small(3, 5),
                           "--log-every", 1, "--max-tokens", place.small(4000, 25000))
        _, errors = place.output(command, **variables)
        found[name] = (logged_losses(place.work / name), re.findall(r"memory has run out[^;]*", errors))
    difference = largest_difference(found["whole"][0], found["split"][0])
    if found["whole"][1] or not found["split"][1] or difference > 1e-3:
        raise Failed(f"the losses differ by {difference}: {found}")
    return {"largest_difference": difference, "messages": found["split"][1]}


def lines(place):
    """A model that the CPU has trained translates 200 lines, in fp32 as on the CPU, and in bf16 with about its BLEU."""
    text = sample(place, 2000)
    place.output(training(place, text, "run", "--device", "cpu", "--max-updates", place.small(60, 300), "--max-tokens", 1000))
    on_cpu = ("--device", "cpu", "--compute-type", "float32")
    on_device = ("--device", "cuda", *place.small(("--batch-size", 64), ()), "--compute-type")

    def translations(beam, device):
        command = place.command("dragoman", "translate", "-m", place.work / "run", "--beam-size", beam,
                                "--max-length", place.small(12, 100), *device)
        return place.output(command, input_file=text / "test.en")[0].splitlines()

    def bleu(lines):
        (place.work / "hypothesis").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        command = place.command("dragoman", "evaluate", "--hyp", place.work / "hypothesis", "--ref", text / "test.de",
                                "--metrics", "bleu", "--format", "json")
        return json.loads(place.output(command)[0])[0]["score"]

    result = {}
    for beam in (1, 4):
        cpu, gpu = translations(beam, on_cpu), translations(beam, (*on_device, "float32"))
        equal = sum(a == b for a, b in zip(cpu, gpu))
        if len(cpu) != 200 or len(gpu) != 200 or equal < 199:
            differing = [pair for pair in zip(cpu, gpu) if pair[0] != pair[1]]
            raise Failed(f"beam {beam}: {len(cpu)} and {len(gpu)} lines, of which {equal} are equal: {differing[:5]}")
        result[f"equal_lines_of_200_beam_{beam}"] = equal
        if beam > 1 and place.is_stand_in:
            continue  # tests/system/cuda_stand_in.py searches in bf16 with beams
        half = translations(beam, (*on_device, "bfloat16"))
        result[f"bf16_beam_{beam}"] = {"bleu": bleu(half), "bleu_in_fp32": bleu(gpu),
                                       "equal_lines_of_200": sum(a == b for a, b in zip(half, gpu))}
    return result


# ---- speed --------------------------------------------------------------------------------------------------------------------

def script(place, name, *options):
    return place.python(name, *options)


def train_speed(place, preset, tokens, *options):
    return place.json_of("bench/train_speed", "--device", "cuda", "--preset", preset, "--max-tokens", tokens, "--updates", 8,
                         "--windows", 3, *options)


def random_base(place):
    """A folder with a model of the size of base and sentences of 27 pieces for it."""
    if not (place.common / "sample.pieces").exists():
        place.output(place.command("bench/random_model", "--preset", "base", "--length", 27, "--sentences", 2560, "-o", place.common))
    return place.common


def random_model(place):
    random_base(place)
    return {}


def translate_speed(place, beam, rows, *options):
    folder = random_base(place)
    return place.json_of("bench/translate_speed", "--device", "cuda", "--model", folder / "model.safetensors", "--pieces",
                         folder / "sample.pieces", "--beam", beam, "--batch-size", rows, "--min-length", 30, "--max-length", 30,
                         "--repeat", 2, *options)


def sanitizer(place, tool):
    path = shutil.which("compute-sanitizer", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
    if path is None:
        raise Skipped("there is no compute-sanitizer")
    result, output = unit_tests(place, "model_ops", "*Dropout*:*Flash*", (path, "--tool", tool, "--error-exitcode", "1"))
    if "ERROR SUMMARY: 0 errors" not in output and "0 hazards" not in output:
        raise Failed(output[-6000:])
    return result


def peer(place, preset, tokens, compiled):
    # Our program finds its libraries by the environment, which the peer must not have.
    starter = place.work / "train_speed"
    libraries = place.environment().get("LD_LIBRARY_PATH", "")
    program = place.programs / "bench/train_speed"
    starter.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH="{libraries}" exec "{program}" "$@"\n', encoding="utf-8")
    starter.chmod(0o755)
    sizes = ("--preset", preset, "--max-tokens", tokens, "--updates", 8, "--windows", 3)
    return place.python("compare_train", "--program", starter, "--device", "cuda", "--rounds", 1, *sizes, "--", sys.executable,
                        ROOT / "bench/pytorch_train", *sizes, "--compile", compiled)


# ---- the list ---------------------------------------------------------------------------------------------------------------

Item = collections.namedtuple("Item", "name seconds gpu_alone work shows")


def item(name, seconds, work, shows, *arguments, gpu_alone=False):
    return Item(name, seconds, gpu_alone, lambda place: work(place, *arguments), shows)


speed = functools.partial(item, gpu_alone=True)

ITEMS = (  # in order of worth, with the most seconds that each may take
    speed("ceilings", 20, script, "the machine; rates of copies and products", "gpu_ceilings"),
    item("tests-model_ops", 40, device_tests, "the tests of model/ops on the device", "model_ops"),
    item("tests-model", 40, device_tests, "the tests of model on the device", "model"),
    item("tests-inference_torch", 40, device_tests, "the tests of inference/torch on the device", "inference_torch"),
    item("tests-training_loss", 40, device_tests, "the tests of training/loss on the device", "training_loss"),
    item("tests-training", 60, device_tests, "the tests of training on the device", "training"),
    item("tests-training_start", 40, device_tests, "the tests of training/start on the device", "training_start"),
    item("losses", 40, losses, "20 updates have the CPU's losses to 1e-4, with the same masks"),
    item("flash", 20, flash_attention, "flash attention is equation 1"),
    item("graph", 20, graph, "an update and a step of translation are captured as graphs"),
    item("resume", 60, resume, "a run that is killed and resumed has the same bits"),
    item("split", 40, split, "a batch is split when memory runs out, and learns the same"),
    item("lines", 40, lines, "200 lines are translated as on the CPU, greedy and with beam 4"),
    speed("train-base-4096", 20, train_speed, "training speed of base, 4,096 tokens a batch", "base", 4096),
    speed("train-base-12288", 20, train_speed, "training speed of base, 12,288 tokens", "base", 12288),
    speed("train-base-25000", 20, train_speed, "training speed of base, 25,000 tokens", "base", 25000),
    speed("train-base-graph", 20, train_speed, "the same with an update as a graph", "base", 25000, "--device-graph"),
    speed("train-base-50000", 25, train_speed, "training speed of base, 50,000 tokens", "base", 50000),
    speed("train-base-formula", 20, train_speed, "the same with dropout of attention", "base", 25000, "--attention-dropout", 0.1),
    speed("train-big-4096", 25, train_speed, "training speed of big, 4,096 tokens", "big", 4096),
    speed("train-big-12288", 25, train_speed, "training speed of big, 12,288 tokens", "big", 12288),
    speed("train-big-25000", 25, train_speed, "training speed of big, 25,000 tokens", "big", 25000),
    speed("train-big-50000", 30, train_speed, "training speed of big, 50,000 tokens", "big", 50000),
    speed("random-model", 60, random_model, "a model with random weights, for the next items"),
    speed("translate-1-64", 20, translate_speed, "translation speed, greedy, 64 rows", 1, 64, "--limit", 256),
    speed("translate-1-256", 20, translate_speed, "translation speed, greedy, 256 rows", 1, 256, "--limit", 1024),
    speed("translate-1-1280", 20, translate_speed, "translation speed, greedy, 1,280 rows", 1, 1280),
    speed("translate-4-64", 20, translate_speed, "translation speed, beam 4, 64 rows", 4, 64, "--limit", 64),
    speed("translate-4-256", 20, translate_speed, "translation speed, beam 4, 256 rows", 4, 256, "--limit", 256),
    speed("translate-4-1280", 20, translate_speed, "translation speed, beam 4, 1,280 rows", 4, 1280, "--limit", 1280),
    speed("latency", 20, translate_speed, "milliseconds of one sentence of 30 tokens", 1, 0, "--limit", 20, "--latency"),
    speed("latency-graph", 20, translate_speed, "the same with steps as graphs", 1, 0, "--limit", 20, "--latency", "--device-graph"),
    speed("translate-4-64-graph", 20, translate_speed, "beam 4, 64 rows, with steps as graphs", 4, 64, "--limit", 64, "--device-graph"),
    speed("kernels-update", 30, train_speed, "time by kernel of an update of base", "base", 25000, "--by-kernel"),
    speed("kernels-pass", 30, translate_speed, "time by kernel of a pass, beam 4, 1,280 rows", 4, 1280, "--limit", 320, "--by-kernel"),
    speed("memcheck", 45, sanitizer, "kernels touch no memory that is not theirs", "memcheck"),
    speed("racecheck", 45, sanitizer, "kernels have no races", "racecheck"),
    speed("peer-base-compiled", 120, peer, "base beside compiled PyTorch, 25,000 tokens", "base", 25000, "default"),
    speed("peer-big-compiled", 120, peer, "big beside compiled PyTorch, 25,000 tokens", "big", 25000, "default"),
    speed("peer-base-small", 120, peer, "base beside compiled PyTorch, 4,096 tokens", "base", 4096, "reduce-overhead"),
    speed("peer-base", 60, peer, "base beside plain PyTorch, 25,000 tokens", "base", 25000, "none"),
    speed("peer-translate-1", 60, script, "greedy search of transformers", "transformers_translate", "--sentences", 1024),
    speed("peer-translate-4", 60, script, "beam 4 of transformers", "transformers_translate", "--sentences", 512, "--beam", 4),
    speed("peer-latency", 60, script, "one sentence by transformers", "transformers_translate", "--sentences", 10, "--latency"),
)
