"""What others' validators say of the files that describe dragoman serve: openapi.json by openapi-spec-validator,
deploy/kubernetes.yaml by kubernetes-validate --strict, deploy/compose.yaml by Docker Compose's own schema. Each has to refuse
a damaged copy, too. Exits with 77 (skipped) if pip cannot install the packages.

Usage: descriptions.py SOURCES PACKAGES
"""

import json
import pathlib
import sys

import packages


def check(name, text, damage, validate):
    """`damage`: a text of the file and the one in its place that makes it wrong."""
    validate(text)
    assert damage[0] in text, damage
    try:
        validate(text.replace(*damage))
    except Exception as error:
        print(name, "is sound; a damaged copy is not:", str(error).splitlines()[0][:100])
        return
    raise AssertionError(f"the validator of {name} finds nothing")


def validate_openapi(text):
    from openapi_spec_validator import validate
    validate(json.loads(text))


def validate_kubernetes(text):
    import kubernetes_validate
    import yaml
    for document in yaml.safe_load_all(text):
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)


def validate_compose(text):
    import jsonschema
    import yaml
    [schema] = pathlib.Path(sys.argv[2]).glob("compose/config/compose_spec.json")
    jsonschema.validate(yaml.safe_load(text), json.loads(schema.read_text()))


def main():
    sources, folder = map(pathlib.Path, sys.argv[1:])
    packages.install(folder, "openapi-spec-validator", "kubernetes-validate", alone=["docker-compose==1.29.2"])
    for name, damage, validate in [
            ("extras/server/files/openapi.json", ('"responses": {', '"answers": {'), validate_openapi),
            ("deploy/kubernetes.yaml", ("readOnlyRootFilesystem: true", "readOnlyRoot: true"), validate_kubernetes),
            ("deploy/compose.yaml", ("read_only: true", "read_onl: true"), validate_compose)]:
        check(name, (sources / name).read_text(encoding="utf-8"), damage, validate)


main()
