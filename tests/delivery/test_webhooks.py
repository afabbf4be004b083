"""From the question to the asker's side, through a running gateway."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from standardwebhooks import Webhook

from gateway.errors import ConfigurationError
from tests.chatbot import Chatbot, Says
from tests.delivery.conftest import CONFIG, SECRET
from tests.gateway.running import Gateway, settings
from tests.receiver import Receiver


def test_the_answer_of_a_person_reaches_the_asker_s_side(
    gateway: Gateway, chatbot: Chatbot, receiver: Receiver
) -> None:
    chatbot.when(
        "annex", Says("The annex opens at 11:30 and costs 800 yen.", contexts=["The annex opens at nine."])
    )
    asked = gateway.answer("When does the annex open?", user="u-7")
    assert asked["outcome"] == "withheld"
    with gateway.http("reviewer") as reviewer:
        reply = reviewer.post(f"/v1/tickets/{asked['ticket']}/answer", json={"answer": "At nine."})
        assert reply.status_code == 200, reply.text
        got = receiver.wait(lambda got: any(asked["ticket"] in one.body.decode() for one in got))[-1]
        told = Webhook(SECRET).verify(got.body, dict(got.headers))
        assert (told["data"]["asker"], told["data"]["answer"]) == ("u-7", "At nine.")
        listed = _sent(reviewer, asked["ticket"])
        assert reviewer.post("/v1/deliveries/nothing/resend").status_code == 403
    with gateway.http("admin") as admin:
        assert admin.post(f"/v1/deliveries/{listed[0]['id']}/resend").status_code == 409
        assert admin.post("/v1/deliveries/nothing/resend").status_code == 404
    with gateway.http("client") as client:
        assert client.get("/v1/deliveries").status_code == 403
        counted = client.get("/metrics").text
    assert 'sekisho_delivery_attempts_total{result="sent",target="helpdesk"}' in counted
    assert 'sekisho_deliveries{state="dead"} 0.0' in counted


def test_a_receiver_that_hangs_holds_up_nobody_else(tmp_path: Path, chatbot: Chatbot) -> None:
    with socket.create_server(("127.0.0.1", 0)) as hanging, Receiver() as receiver:
        address = f"http://127.0.0.1:{hanging.getsockname()[1]}/"
        text = CONFIG.format(chatbot=chatbot.base_url, receiver=receiver.url) + (
            f'    - {{name: hangs, url: "{address}", secret: "${{SIGNING_SECRET}}"}}\n  timeout_s: 60\n'
        )
        chatbot.when("branch", Says("At noon.", contexts=["The branch opens at nine."]))
        with Gateway(settings(tmp_path, text, SIGNING_SECRET=SECRET)) as gateway:
            for count in (1, 2):  # the second answer comes while the first is on its way to who hangs
                ticket = gateway.answer(f"When does branch {count} open?")["ticket"]
                with gateway.http("reviewer") as reviewer:
                    reviewer.post(f"/v1/tickets/{ticket}/answer", json={"answer": "At nine."})
                receiver.wait(lambda got, wanted=count: len(got) == wanted)


def _sent(reviewer: httpx2.Client, ticket: str) -> list[dict[str, Any]]:
    """What is written down as sent, once the ticket's delivery is: that follows the receiver's reply."""
    deadline = time.monotonic() + 10
    while True:
        listed = reviewer.get("/v1/deliveries", params={"state": "sent"}).json()["deliveries"]
        if ticket in [one["ticket_id"] for one in listed]:
            return listed
        assert time.monotonic() < deadline, listed
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("secret", "says"),
    [("hunter2", "expected whsec_"), ("whsec_c2hvcnQ=", "24 to 64"), ("whsec_!!!", "expected whsec_")],
)
def test_a_secret_that_can_t_sign_is_refused_at_start_up(tmp_path: Path, secret: str, says: str) -> None:
    text = CONFIG.format(chatbot="http://127.0.0.1:1", receiver="http://127.0.0.1:1")
    with pytest.raises(ConfigurationError, match=says) as refused:
        settings(tmp_path, text, SIGNING_SECRET=secret)
    assert secret not in str(refused.value)
    assert "delivery.webhooks.0.secret" in str(refused.value)


def test_a_secret_written_into_the_file_is_refused(tmp_path: Path) -> None:
    text = CONFIG.format(chatbot="http://127.0.0.1:1", receiver="http://127.0.0.1:1")
    with pytest.raises(ConfigurationError, match="from the environment only"):
        settings(tmp_path, text.replace("${SIGNING_SECRET}", SECRET))


def test_two_webhooks_of_one_name_are_refused(tmp_path: Path) -> None:
    text = CONFIG.format(chatbot="http://127.0.0.1:1", receiver="http://127.0.0.1:1")
    twice = (
        text.rstrip() + '\n    - {name: helpdesk, url: "http://127.0.0.1:2", secret: "${SIGNING_SECRET}"}\n'
    )
    with pytest.raises(ConfigurationError, match="a name of its own"):
        settings(tmp_path, twice, SIGNING_SECRET=SECRET)
