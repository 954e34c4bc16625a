from tests.clients.conftest import Road


async def test_a_literal_and_a_parameter_recall_by_both_legs(
    road: Road, remembered: tuple[str, ...]
) -> None:
    async with await road.connect() as connection:
        notices: list[str] = []
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
        by_literal = await connection.execute(
            "select content, vector_rank, degraded from recall('billing deploy rolled back')"
        )
        first = await by_literal.fetchall()
        by_parameter = await connection.execute(
            "select content, vector_rank, degraded from recall(%s)", ["billing deploy rolled back"]
        )
        assert await by_parameter.fetchall() == first
        assert first[0][0] == remembered[0]
        assert notices == []
