"""Every setting, with its default, its unit and its bounds. They are read by `gateway.configuration`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import Field, PrivateAttr, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from gateway.settings.console import ConsoleSettings, OidcSettings
from gateway.settings.corrective import CorrectiveSettings, WebSearchSettings
from gateway.settings.delivery import DeliverySettings
from gateway.settings.evaluation import EvaluationLlmSettings, EvaluationSettings
from gateway.settings.faithfulness import CascadeSettings, FaithfulnessLlmSettings, FaithfulnessSettings
from gateway.settings.models import DetectorSettings, GateLlmSettings, LlmSettings, PriceSettings
from gateway.settings.people import FeedbackSettings, RetentionSettings, ReviewSettings
from gateway.settings.policy import (
    AllowSettings,
    DenySettings,
    ExampleSettings,
    GateSettings,
    ListedSettings,
    MaySettings,
    MustNotSettings,
    MustSettings,
    PolicySettings,
    ReplySettings,
    TopicSettings,
)
from gateway.settings.types import Name, RefusalStatus, Section, Url
from languages.identification import Language
from storage.address import driver_url
from storage.sealing import Seal

__all__ = [
    "AllowSettings",
    "AuthSettings",
    "CacheSettings",
    "CascadeSettings",
    "ConsoleSettings",
    "CorrectiveSettings",
    "DenySettings",
    "DetectorSettings",
    "EncoderSettings",
    "EvaluationLlmSettings",
    "EvaluationSettings",
    "ExampleSettings",
    "FaithfulnessLlmSettings",
    "FaithfulnessSettings",
    "GateLlmSettings",
    "GateSettings",
    "KeySettings",
    "ListedSettings",
    "LlmSettings",
    "LoggingSettings",
    "MaySettings",
    "MustNotSettings",
    "MustSettings",
    "OidcSettings",
    "PolicySettings",
    "PriceSettings",
    "ReplySettings",
    "RetentionSettings",
    "ReviewSettings",
    "Section",
    "ServerSettings",
    "Settings",
    "StorageSettings",
    "TelemetrySettings",
    "TopicSettings",
    "UnderstandingSettings",
    "UpstreamSettings",
    "WebSearchSettings",
]


class CacheSettings(Section):
    """Serving verified answers."""

    enabled: bool = True
    target_error: float = Field(0.01, gt=0, lt=0.5)  # wrong answers per request
    pair_model: bool = True  # whether a model reads a question together with the nearest phrasing
    answer_model: bool = True  # and where that leaves doubt another reads it together with the answer
    audit_rate: float = Field(0.05, ge=0, le=1)  # share of hits by meaning that go to a reviewer
    audit_rate_exact: float = Field(0.01, ge=0, le=1)  # the same of exact hits: their answer may be outdated
    audit_rate_rag: float = Field(0.02, ge=0, le=1)  # the same of RAG's answers that were delivered
    audit_first: int = Field(30, ge=0)  # hits by meaning that all go to a reviewer when a new cut serves
    on_breach: Literal["tighten", "pause", "alarm"] = "tighten"  # once it is shown that the target is passed
    on_collision: Literal["warn", "refuse"] = "warn"  # an entry that would compete with another is approved
    overdue: Literal["keep", "stale"] = "keep"  # what an entry is after its review_by; a ticket opens anyway
    timezone: ZoneInfo = ZoneInfo("UTC")  # of an entry's days: valid_from, valid_until, review_by
    did_you_mean: bool = False  # whether an asker who gets no answer is shown the questions near theirs

    @property
    def offers(self) -> bool:
        """Whether any question is offered."""
        return self.enabled and self.did_you_mean


class UpstreamSettings(Section):
    """The production chatbot, or our own documents where there is none."""

    kind: Literal["openai", "knowledge"] = "knowledge"
    base_url: Url | None = None
    model: str | None = None
    api_key: SecretStr | None = None
    contexts: str | None = None  # a preset's name, or a JMESPath into the reply
    extra_body: dict[str, Any] = {}  # sent with every request; a null leaves an option out
    connect_timeout_s: float = Field(3.0, gt=0)
    timeout_s: float = Field(60.0, gt=0)
    max_retries: int = Field(2, ge=0, le=10)
    breaker_failures: int = Field(5, ge=1)  # failures in a row that open the circuit
    breaker_reset_s: float = Field(30.0, gt=0)
    price: PriceSettings | None = None  # without it, what the cache saves is said in tokens only
    writer: LlmSettings | None = None  # kind: knowledge; without it, answers are quoted
    corrective: CorrectiveSettings = CorrectiveSettings()  # kind: knowledge

    @model_validator(mode="after")
    def _openai_needs_an_address(self) -> Self:
        if self.kind == "openai" and not (self.base_url and self.model):
            raise ValueError("kind: openai needs base_url and model")
        return self


class UnderstandingSettings(Section):
    """Messages to questions."""

    max_questions: int = Field(8, ge=1, le=50)  # in one message
    default_language: Literal["en", "ja", "zh"] = "ja"  # where the script does not tell
    follow_ups: Literal["strict", "balanced", "lenient"] = "strict"  # when to hold one back from the cache
    llm: LlmSettings | None = None  # rewrites questions that depend on earlier turns
    front_end_tasks: bool = True  # whether what front ends ask beside the chat is answered without a stage


class EncoderSettings(Section):
    """The embedding model."""

    kind: Literal["onnx", "sentence-transformers", "openai"] = "onnx"
    model: str | None = None  # a folder (onnx), a model's name or folder, a model of the endpoint
    base_url: Url | None = None
    api_key: SecretStr | None = None
    languages: tuple[Language, ...] = ()  # in which the cache may go by the vectors; not onnx
    device: str = "cpu"  # of sentence-transformers: cuda, cuda:1, mps …
    threads: int = Field(1, ge=1, le=64)
    remembered: int = Field(4096, ge=0)  # recent texts and pairs kept in memory: traffic repeats itself

    @model_validator(mode="after")
    def _others_need_a_model(self) -> Self:
        if self.kind != "onnx" and not self.model:
            raise ValueError(f"kind: {self.kind} needs model")
        if self.kind == "openai" and not self.base_url:
            raise ValueError("kind: openai needs base_url")
        if self.kind == "onnx" and self.languages:
            raise ValueError("kind: onnx takes no languages: identity.json beside the model names them")
        if self.kind != "sentence-transformers" and self.device != "cpu":
            raise ValueError(f"kind: {self.kind} takes no device: sentence-transformers does")
        return self


class StorageSettings(Section):
    """Where truth and vectors live."""

    folder: Path = Path(".sekisho")  # SQLite and the embedded index
    url: SecretStr | None = None  # postgresql://… ; SQLite inside `folder` without it
    qdrant_url: Url | None = None  # a Qdrant server; the embedded index without it
    qdrant_api_key: SecretStr | None = None
    encryption_key: SecretStr | None = None  # what askers wrote is sealed with it; 128 hexadecimal digits
    former_encryption_keys: list[SecretStr] = []  # until `sekisho reseal` has run

    @property
    def for_one_gateway(self) -> bool:
        """Whether a second gateway over the same database would miss what the first one indexes."""
        return self.url is not None and self.qdrant_url is None

    @field_validator("url", "qdrant_url", "qdrant_api_key", mode="before")
    @classmethod
    def _empty_is_none(cls, given: Any) -> Any:
        """A variable of the environment that is set to nothing says that there is no such server."""
        return None if given == "" else given

    @field_validator("url")
    @classmethod
    def _is_a_database(cls, given: SecretStr | None) -> SecretStr | None:
        if given is not None:
            driver_url(given.get_secret_value())
        return given

    @model_validator(mode="after")
    def _keys_can_be_used(self) -> Self:
        self.seal()
        return self

    def seal(self) -> Seal | None:
        """What seals the texts of askers; None without keys."""
        key = None if self.encryption_key is None else self.encryption_key.get_secret_value()
        return Seal.of(key, [former.get_secret_value() for former in self.former_encryption_keys])


class KeySettings(Section):
    """A key that exists from the start."""

    key: SecretStr = Field(min_length=16)
    role: Literal["client", "reviewer", "admin"]
    tenant: Name = "default"
    group: Name | Literal[""] = ""  # whose entries it reads besides everybody's
    label: str = ""  # who holds it: histories show it, and tell people apart by it


class AuthSettings(Section):
    """Who may ask."""

    required: bool = True  # False: everybody who can reach the port asks as tenant "default"
    keys: list[KeySettings] = []

    @property
    def labels(self) -> list[str]:
        """Whose each key is; those of one role that don't say so are told apart by their order."""
        unnamed: Counter[tuple[str, str]] = Counter()
        labels = []
        for key in self.keys:
            unnamed[key.tenant, key.role] += not key.label
            place = unnamed[key.tenant, key.role]
            labels.append(key.label or f"{key.role} of the settings" + (f" {place}" if place > 1 else ""))
        return labels

    @property
    def names(self) -> frozenset[tuple[str, str]]:
        """Tenants with the names that nobody else may have there."""
        return frozenset(zip((key.tenant for key in self.keys), self.labels, strict=True))

    @model_validator(mode="after")
    def _keys_differ(self) -> Self:
        seen: dict[str, int] = {}
        for place, key in enumerate(self.keys):
            first = seen.setdefault(key.key.get_secret_value(), place)
            if first != place:
                raise ValueError(f"keys[{place}].key: expected a key of its own; keys[{first}] is the same")
        return self

    @model_validator(mode="after")
    def _labels_differ(self) -> Self:
        seen: dict[tuple[str, str], int] = {}
        for place, (key, label) in enumerate(zip(self.keys, self.labels, strict=True)):
            first = seen.setdefault((key.tenant, label), place)
            if first != place:
                raise ValueError(
                    f"keys[{place}].label: expected one that no other key of the tenant {key.tenant} has; "
                    f"keys[{first}] is “{label}”, too"
                )
        return self


class ServerSettings(Section):
    """The HTTP side."""

    host: str = "127.0.0.1"
    port: int = Field(8080, ge=0, le=65535)
    max_body_bytes: int = Field(262_144, ge=1024)
    max_messages: int = Field(200, ge=1)
    max_question_chars: int = Field(8_000, ge=100)
    keep_alive_s: float = Field(5.0, gt=0)  # a silent stream gets a comment this often
    refusal_status: RefusalStatus = 200  # 400 breaks chat front ends, some clients want it


class LoggingSettings(Section):
    """What is written down about requests."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["json", "console"] = "json"
    texts: bool = False  # True: questions are kept in logs and outcomes as text, not only as hashes


class TelemetrySettings(Section):
    """Who watches from outside, besides Prometheus."""

    otel: bool | None = None  # traces by OTLP; None: where OTEL_EXPORTER_OTLP_ENDPOINT says so


class Settings(BaseSettings):
    """The whole configuration. The environment (`SEKISHO_SECTION__KEY`) wins over the file."""

    model_config = SettingsConfigDict(
        env_prefix="SEKISHO_", env_nested_delimiter="__", extra="forbid", frozen=True, env_ignore_empty=True
    )

    policy: PolicySettings = PolicySettings()
    gate: GateSettings = GateSettings()
    replies: ReplySettings = ReplySettings()
    cache: CacheSettings = CacheSettings()
    upstream: UpstreamSettings = UpstreamSettings()
    faithfulness: FaithfulnessSettings = FaithfulnessSettings()
    understanding: UnderstandingSettings = UnderstandingSettings()
    encoder: EncoderSettings = EncoderSettings()
    storage: StorageSettings = StorageSettings()
    auth: AuthSettings = AuthSettings()
    console: ConsoleSettings = ConsoleSettings()
    review: ReviewSettings = ReviewSettings()
    server: ServerSettings = ServerSettings()
    delivery: DeliverySettings = DeliverySettings()
    feedback: FeedbackSettings = FeedbackSettings()
    retention: RetentionSettings = RetentionSettings()
    logging: LoggingSettings = LoggingSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    evaluation: EvaluationSettings = EvaluationSettings()

    _base: Path = PrivateAttr(default_factory=Path.cwd)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment before the file."""
        return env_settings, init_settings

    def path(self, relative: Path) -> Path:
        """A path of the file, seen from the file's folder."""
        return self._base / relative

    def stored_in(self, folder: Path) -> Self:
        """The same configuration over embedded stores of its own: what is served stays as it is.

        Nobody is written to about what happens there, and no second person has to approve what is copied.
        """
        storage = self.storage.model_copy(update={"folder": folder, "url": None, "qdrant_url": None})
        review = self.review.model_copy(update={"two_persons": False})
        alone = {"storage": storage, "review": review, "delivery": DeliverySettings()}
        return self.model_copy(update=alone)

    @property
    def database_url(self) -> str:
        """SQLAlchemy's URL of the truth."""
        if self.storage.url:
            return self.storage.url.get_secret_value()
        return f"sqlite+aiosqlite:///{self.path(self.storage.folder) / 'sekisho.db'}"

    @property
    def index_folder(self) -> Path:
        """The folder of the embedded index."""
        return self.path(self.storage.folder) / "index"
