/**
 * What readers of live logs cost, with 1 and with 200 of one thread, on SQLite, where another connection writes: the lag of a token, what a reader
 * holds in memory, and processor time.
 * `node_modules/.bin/node bench/streams.ts [--json FILE] [--quick]`
 * A token is one commit of its own. Readers are those that the HTTP API serves, without their sockets.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { followPages } from '../src/client/follow-events.ts';
import { eventsOf } from '../src/core/event/thread-event.ts';
import { openStore } from '../src/store/open-store.ts';
import { message, openThread } from '../test/contract/thread-driver.ts';
import { type Line, quantile, readOptions, report } from './support/report.ts';

/** What a model streams is committed at this pace. */
const PACE_MS = 20;

const { json, quick } = readOptions();
const tokens = quick ? 50 : 500;
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const lines: Line[] = [];
const alone = await measure(0);
for (const readers of [1, 200]) {
  const { lags, cpuMs, bytes } = await measure(readers);
  const of = `${readers} reader${readers === 1 ? '' : 's'}`;
  lines.push(
    { what: `lag of a token, ${of}, p50`, value: quantile(lags, 0.5), unit: 'ms', note: `n ${lags.length}` },
    { what: `lag of a token, ${of}, p99`, value: quantile(lags, 0.99), unit: 'ms' },
    // Of a few, garbage is more than they hold.
    ...(readers < 100
      ? []
      : [{ what: `memory per reader, ${of}`, value: bytes / readers / 1024, unit: 'KiB' }]),
    {
      what: `processor time per 1,000 chunks, ${of}`,
      value: ((cpuMs - alone.cpuMs) / tokens) * 1000,
      unit: 'ms',
      note: 'without that of the writer',
    },
  );
}
report('Readers of one live log', lines, json);

async function measure(readers: number) {
  const folder = mkdtempSync(join(tmpdir(), 'everthread-streams-'));
  const [writer, reader] = [await openStore('sqlite:s.db', folder), await openStore('sqlite:s.db', folder)];
  try {
    const thread = await openThread(writer);
    const ref = await thread.beginCall([message('m')]);
    const lags: number[] = [];
    let caughtUp = 0;
    collect();
    const before = process.memoryUsage().heapUsed;
    const read = async () => {
      for await (const page of followPages(reader, thread.id, { marks: true })) {
        if (page.length === 0) caughtUp += 1;
        for (const { data } of eventsOf(page, 'model.chunk'))
          lags.push(performance.now() - Number(data.delta));
      }
    };
    const reading = Array.from({ length: readers }, read);
    while (caughtUp < readers) await delay(10);
    collect();
    const bytes = process.memoryUsage().heapUsed - before;
    const cpu = process.cpuUsage();
    for (let n = 0; n < tokens; n++) {
      await thread.chunk(ref, String(performance.now()));
      await delay(PACE_MS);
    }
    await writer.threads.terminate(thread.id);
    await Promise.all(reading);
    const { user, system } = process.cpuUsage(cpu);
    return { lags, bytes, cpuMs: (user + system) / 1000 };
  } finally {
    await writer.close();
    await reader.close();
    rmSync(folder, { recursive: true });
  }
}
