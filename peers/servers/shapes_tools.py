"""A tool for each shape of result, for servers that read them off Python's types."""

from typing import Optional, Union

from typing_extensions import TypedDict


class Day(TypedDict):
    day: str
    high: float


class Person(TypedDict):
    id: int
    name: str


class Circle(TypedDict):
    radius: float


class Box(TypedDict):
    width: float
    height: float


def today() -> Day:
    return {"day": "monday", "high": 20.5}


def forecast() -> list[Day]:
    return [{"day": "monday", "high": 20.5}, {"day": "tuesday", "high": 18.5}]


def count() -> int:
    return 42


def find_person(id: int) -> Optional[Person]:
    return {"id": 1, "name": "Ada"} if id == 1 else None


def shape(id: int) -> Union[Circle, Box]:
    return {"radius": 2.5} if id == 1 else {"width": 2.5, "height": 3.5}


def setting(name: str) -> Union[int, str]:
    return 3 if name == "level" else "dark"


TOOLS = [today, forecast, count, find_person, shape, setting]
