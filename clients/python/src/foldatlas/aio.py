"""The client for asyncio. Each call runs in a thread, so that the event loop goes on."""

from __future__ import annotations

import asyncio
from typing import Any, AsyncIterator, Callable, Dict, Iterable, Iterator, List, Optional, TypeVar

from .client import Batches, FoldAtlas, Path
from .submission import Items
from .table import Table

T = TypeVar("T")
_END = object()


class AsyncFoldAtlas:
    """The methods of `FoldAtlas` as coroutines; `watch` and `results` are asynchronous iterators."""

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, timeout: Optional[float] = None) -> None:
        self.sync = FoldAtlas(url, token, timeout)

    async def query(self, document: str, **variables: Any) -> Dict[str, Any]:
        return await asyncio.to_thread(self.sync.query, document, **variables)

    async def lookup(self, ids: Iterable[str]) -> Table:
        return await asyncio.to_thread(self.sync.lookup, ids)

    async def proteins(self, hashes: Iterable[str]) -> Table:
        return await asyncio.to_thread(self.sync.proteins, hashes)

    async def similar(self, sequence: str, **options: Any) -> Table:
        return await asyncio.to_thread(self.sync.similar, sequence, **options)

    async def features(self, search: Optional[str] = None, **options: Any) -> Table:
        return await asyncio.to_thread(self.sync.features, search, **options)

    async def structures(self, ids: Iterable[str], folder: Path, format: Optional[str] = None) -> Table:
        return await asyncio.to_thread(self.sync.structures, ids, folder, format)

    async def check(self, items: Items, **options: Any) -> Dict[str, Any]:
        return await asyncio.to_thread(self.sync.check, items, **options)

    async def submit(self, items: Items, **options: Any) -> str:
        return await asyncio.to_thread(self.sync.submit, items, **options)

    async def submit_all(self, items: Items, **options: Any) -> List[str]:
        return await asyncio.to_thread(self.sync.submit_all, items, **options)

    async def batches(self, first: Optional[int] = None) -> Table:
        return await asyncio.to_thread(self.sync.batches, first)

    async def tasks(self, batches: Batches) -> List[Dict[str, Any]]:
        return await asyncio.to_thread(self.sync.tasks, batches)

    async def rank(self, batches: Batches, **options: Any) -> Table:
        return await asyncio.to_thread(self.sync.rank, batches, **options)

    async def fold(self, items: Items, folder: Path, **options: Any) -> Table:
        return await asyncio.to_thread(self.sync.fold, items, folder, **options)

    async def retry_failed(self, folder: Path, again: Optional[str] = None) -> List[str]:
        return await asyncio.to_thread(self.sync.retry_failed, folder, again)

    async def plddt(self, task_id: str) -> List[Optional[float]]:
        return await asyncio.to_thread(self.sync.plddt, task_id)

    async def pae(self, task_id: str) -> List[List[Optional[float]]]:
        return await asyncio.to_thread(self.sync.pae, task_id)

    def watch(self, batches: Batches) -> AsyncIterator[Dict[str, Any]]:
        return _iterate(lambda: self.sync.watch(batches))

    def results(self, batches: Batches, folder: Path, **options: Any) -> AsyncIterator[Dict[str, Any]]:
        return _iterate(lambda: self.sync.results(batches, folder, **options))


async def _iterate(start: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
    """An iterator whose steps run in a thread, one after the other."""
    iterator = start()
    while True:
        value = await asyncio.to_thread(next, iterator, _END)  # type: ignore[arg-type]
        if value is _END:
            return
        yield value  # type: ignore[misc]
