/**
 * The store's work for a step, without Temporal: the port's commands in the order in which the activities of a
 * step call them. `node_modules/.bin/node bench/store.ts [--json FILE] [--quick] [--only N]...`, N messages stored.
 * Time is per command: all of it, inside the engine, and of that the commit, which waits for the disk. Both engines:
 * SQLite in a file, and PostgreSQL, an embedded one or that of `EVERTHREAD_TEST_POSTGRES`; that also behind a slower network, where
 * the ways to the server and back count, which is how these are counted. A second table has the cost of
 * assembling a request from threads of several lengths (its JSON is beside the first one's).
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../src/store/open-store.ts';
import type { ThreadStore } from '../src/store/port/thread-store.ts';
import { measureAssembly } from './support/context-assembly.ts';
import { openPostgresBench } from './support/postgres-bench.ts';
import { type Line, median, readOptions, report } from './support/report.ts';
import { slowNetwork } from './support/slow-network.ts';
import { installMeter, type Meter } from './support/store-meter.ts';

const { json, quick, only } = readOptions();
const meter = installMeter();
const WHOLE = 'whole step';
/** So much slower that the ways to the server and back can be counted by it. */
const COUNTING_MS = 21;
const sizes = only.length > 0 ? only.map(Number) : [10, 1000];
const folder = mkdtempSync(join(tmpdir(), 'everthread-bench-'));
const lines: Line[] = [];
const assembly: Line[] = [];
try {
  await measureEngine('SQLite', 'sqlite:store.db');
  const postgres = await openPostgresBench();
  try {
    await measureEngine('PostgreSQL', postgres.address);
    for (const messages of sizes) await measureFar(postgres.address, messages);
  } finally {
    await postgres.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
report('The store, for a step', lines, json);
report('Context assembly', assembly, json?.replace(/(\.json)?$/, '-context.json'));

interface Sample extends Meter {
  ms: number;
}

async function measureEngine(name: string, address: string): Promise<void> {
  const store = await openStore(address, folder);
  for (const messages of sizes) {
    const measured = await measure(store, messages);
    lines.push(...measured.map((line) => ({ ...line, what: `${name}: ${line.what}` })));
  }
  const lengths = only.length > 0 ? sizes : [100, 1000, 10_000];
  for (const length of lengths)
    assembly.push(...(await measureAssembly({ name, store, meter, length, quick })));
  await store.close();
}

/** Which of its milliseconds a step spends on the way: they grow with the network's, and what remains does not. */
async function measureFar(address: string, messages: number): Promise<void> {
  const [near, far] = [
    await measureBehind(address, messages, 1),
    await measureBehind(address, messages, COUNTING_MS),
  ];
  for (const [index, { name, sample }] of near.entries()) {
    const trips = ((far[index] as Row).sample.ms - sample.ms) / (COUNTING_MS - 1);
    lines.push({
      what: `PostgreSQL, 1 ms away: ${name}, ${messages} messages`,
      value: sample.ms,
      unit: 'ms',
      note: `${trips.toFixed(1)} round trips, ${sample.statements} statements`,
    });
  }
}

async function measureBehind(address: string, messages: number, roundTripMs: number): Promise<Row[]> {
  const near = await openStore(address, folder);
  // Filled from near: thousands of messages would take minutes on the slow way.
  const ref = await openThread(near, messages);
  await near.close();
  const network = await slowNetwork(address, roundTripMs);
  const store = await openStore(network.address, folder);
  try {
    return await measureSteps(store, ref, roundTripMs === 1 && !quick ? 100 : 15);
  } finally {
    await store.close();
    await network.close();
  }
}

async function measure(store: ThreadStore, messages: number): Promise<Line[]> {
  const rows = await measureSteps(store, await openThread(store, messages), quick ? 30 : 300);
  return rows.map(({ name, sample }) => ({
    what: `${name}, ${messages} messages`,
    value: sample.ms,
    unit: 'ms',
    note: `${sample.commits} commits, ${sample.statements} statements; engine ${sample.engineMs.toFixed(2)} ms, of it commit ${sample.commitMs.toFixed(2)} ms`,
  }));
}

interface Row {
  readonly name: string;
  readonly sample: Sample;
}

async function measureSteps(store: ThreadStore, ref: Run, steps: number): Promise<Row[]> {
  const samples = new Map<string, Sample[]>();
  const timed: Timed = async (name, run) => {
    const before = { ...meter };
    const startedAt = performance.now();
    const result = await run();
    const ms = performance.now() - startedAt;
    const sample = { ms, ...difference(meter, before) };
    samples.set(name, [...(samples.get(name) ?? []), sample]);
    return result;
  };
  for (let step = 1; step <= steps; step++) await runStep(store, ref, step, timed);
  const rows = [...samples].map(([name, all]) => ({ name, sample: typical(all) }));
  const sum = rows.reduce((total, { sample }) => add(total, sample), {
    ms: 0,
    statements: 0,
    commits: 0,
    engineMs: 0,
    commitMs: 0,
    rows: 0,
  });
  return [...rows, { name: WHOLE, sample: sum }];
}

type Timed = <T>(name: string, run: () => Promise<T>) => Promise<T>;
type Run = { readonly threadId: string; readonly runId: string };

async function openThread(store: ThreadStore, messages: number): Promise<Run> {
  const run = { threadId: randomUUID(), runId: randomUUID() };
  const relations = { parentId: null, rootId: run.threadId, userId: null, arguments: {} };
  await store.threads.open({ ...run, ...relations, agent: 'bench', mustExist: false });
  for (let i = 0; i < messages; i++) {
    await store.messages.inject(run.threadId, {
      id: `m${i}`,
      role: 'user',
      content: 'x'.repeat(200),
      executionId: null,
    });
  }
  return run;
}

/** As src/activities/step/model-step.ts and run-tool.ts do it. */
async function runStep(store: ThreadStore, run: Run, step: number, timed: Timed): Promise<void> {
  const executionId = 'execution';
  const items = step === 1 ? [{ kind: 'message', id: 'first', role: 'user', content: 'go' } as const] : [];
  const ref = { ...run, step, attempt: 1 };
  const usage = { promptTokens: 10, completionTokens: 10, totalTokens: 20 };
  const call = { id: `call_${step}`, type: 'function', function: { name: 'tool', arguments: '{}' } } as const;
  const begun = { ...run, ordinal: step, executionId, afterStep: step - 1, items, rejections: [] };
  const window = { includeChat: true, includePastTools: true, recentImages: 10 };
  const limits = () => ({ maxSteps: {} });
  const request = () => ({ window, call: { model: 'm', modelId: 'm-1' } });
  await timed('beginStep', () => store.steps.begin({ ...begun, limits, request }));
  const ended = { call: 1, usage, firstTokenAt: 1 };
  const answer = {
    ...{ content: null, toolCalls: [call], model: 'm', finishReason: 'tool_calls', usage },
    call: ended,
  };
  await timed('commitStep', () => store.steps.commit({ ...ref, ...answer }));
  const key = { ...run, step, index: 0 };
  const attempt = randomUUID();
  await timed('beginTool', () => store.toolCalls.begin({ ...key, attempt, idempotent: () => false }));
  const result = { status: 'success', result: 'done' } as const;
  await timed('commitTool', () => store.toolCalls.commit({ ...key, attempt, result, queuedTools: [] }));
}

function difference(now: Meter, before: Meter): Meter {
  return {
    statements: now.statements - before.statements,
    commits: now.commits - before.commits,
    engineMs: now.engineMs - before.engineMs,
    commitMs: now.commitMs - before.commitMs,
    rows: now.rows - before.rows,
  };
}

function typical(samples: readonly Sample[]): Sample {
  const of = (field: keyof Sample) => median(samples.map((sample) => sample[field]));
  return {
    ms: of('ms'),
    statements: of('statements'),
    commits: of('commits'),
    engineMs: of('engineMs'),
    commitMs: of('commitMs'),
    rows: of('rows'),
  };
}

function add(total: Sample, sample: Sample): Sample {
  return {
    ms: total.ms + sample.ms,
    statements: total.statements + sample.statements,
    commits: total.commits + sample.commits,
    engineMs: total.engineMs + sample.engineMs,
    commitMs: total.commitMs + sample.commitMs,
    rows: total.rows + sample.rows,
  };
}
