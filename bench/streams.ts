/**
 * What a stream costs: what is added to a provider's time to its first token, over HTTP (`first`); what readers of live
 * logs cost, with 1 and with 200 of one thread, on SQLite, where another connection writes: the lag of a token, memory
 * of a reader, and processor time (`readers`); and the same for `@temporalio/workflow-streams` on a server of the same
 * kind (`beside`).
 * `node_modules/.bin/node bench/streams.ts [--json FILE] [--quick] [--only first|readers|beside]...`
 * Each token is a separate commit. Readers are those that the HTTP API serves, without their sockets.
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
import { measureWorkflowStreams } from './support/beside-workflow-streams.ts';
import { measureFirstToken } from './support/first-token.ts';
import { type Line, quantile, readOptions, report } from './support/report.ts';
import { quietRuntime } from './support/rig.ts';

/** Milliseconds between commits of streamed text. */
const PACE_MS = 20;

const { json, quick, only } = readOptions();
const tokens = quick ? 50 : 500;
const asked = (part: string) => only.length === 0 || only.includes(part);
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
quietRuntime();
const lines: Line[] = [];
if (asked('readers')) lines.push(...(await measureReaders()));
if (asked('first')) lines.push(...(await measureFirstToken(quick ? 10 : 100)));
if (asked('beside')) lines.push(...(await measureWorkflowStreams({ tokens, paceMs: PACE_MS })));
report('A stream and its readers', lines, json);

async function measureReaders(): Promise<Line[]> {
  const alone = await measure(0);
  const found: Line[] = [];
  for (const readers of [1, 200]) {
    const { lags, cpuMs, bytes } = await measure(readers);
    const of = `${readers} reader${readers === 1 ? '' : 's'}`;
    found.push(
      {
        what: `lag of a token, ${of}, p50`,
        value: quantile(lags, 0.5),
        unit: 'ms',
        note: `n ${lags.length}`,
      },
      { what: `lag of a token, ${of}, p99`, value: quantile(lags, 0.99), unit: 'ms' },
      // With few readers, garbage exceeds the memory that they hold.
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
  return found;
}

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
