/** The measures of one row. All times are those of the ledger; a prefix keeps the threads of a measure apart. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ground } from './ground.ts';
import type { Row } from './rows.ts';
import { type Entry, type PeerWorker, readLedger, startPeerWorker, type Usage } from './worker.ts';

export interface Plan {
  readonly long: number;
  readonly crowd: number;
  readonly kills: number;
  /** A measure is cut after so many milliseconds, and what was done until then counts. */
  readonly capMs: number;
}

export const FULL: Plan = { long: 1000, crowd: 200, kills: 3, capMs: 60_000 };
export const QUICK: Plan = { long: 100, crowd: 16, kills: 1, capMs: 6000 };
export const SHORT = { solo: 50, middle: 16, steps: 20, killed: 8 };

export interface ShortFigures {
  readonly stepMs: number;
  readonly stepsPerSecond: number;
}

export interface LongFigures {
  /** Steps of the long thread; it was cut or failed if they are fewer than `planned`. */
  readonly steps: number;
  readonly planned: number;
  readonly lastStepMs: number;
  readonly slopeUs: number;
  readonly bytesPerStep: number;
  /** What the runtime said if the long thread failed. */
  readonly failure?: string;
}

export interface CrowdFigures {
  readonly stepsPerSecond: number;
  /** True if the time was over before all had ended. */
  readonly cut: boolean;
  /** The most memory that the worker had; its and the servers' processor time of a step. */
  readonly rssMb: number;
  readonly workerMs: number;
  readonly serverMs: number;
}

export interface KillFigures {
  /** Seconds from a kill to the first effect of the next worker, and until all threads had ended; by kill. */
  readonly firstSeconds: readonly number[];
  readonly allSeconds: readonly number[];
  /** Number of threads that had not ended when the time was over. */
  readonly stuck: number;
  readonly effects: number;
  readonly doubled: number;
  readonly lost: number;
  /** What the runtime said when it refused to continue. */
  readonly refusal?: string;
}

export interface CancelFigures {
  /** Milliseconds until the runtime reports the run as ended, and until the model's request is aborted; absent: never. */
  readonly reportedMs?: number;
  readonly abortedMs?: number;
}

const PATIENCE_MS = 90_000;
/** After the runtime has said that it does not continue. */
const REFUSED_MS = 5000;
const CANCEL_WITHIN_MS = 15_000;
let runs = 0;

/** Waits until `check` holds or the time is over; returns whether it holds. */
async function within(ms: number, check: () => boolean): Promise<boolean> {
  for (const until = Date.now() + ms; Date.now() < until; await sleep(15)) if (check()) return true;
  return check();
}

interface Ran {
  readonly effects: readonly Entry[];
  readonly seconds: number;
  readonly whole: boolean;
}

/** Runs threads at once, until each has its last answer, one fails, or the time is over. */
async function runThreads(
  worker: PeerWorker,
  { options }: Ground,
  threads: number,
  { steps, capMs }: { readonly steps: number; readonly capMs: number },
): Promise<Ran> {
  const prefix = `r${++runs}-`;
  const failed = worker.failures.length;
  const begun = Date.now();
  const names = Array.from({ length: threads }, (_, n) => `${prefix}${n}`);
  await Promise.all(names.map((name) => worker.ask('run', name, steps)));
  const read = () => readLedger(options.ledger, prefix);
  const hasEnded = () => read().filter(({ what }) => what === 'd').length >= threads;
  await within(capMs, () => hasEnded() || worker.failures.length > failed);
  const ledger = read();
  const effects = ledger.filter(({ what }) => what === 'e');
  if (effects.length > threads * steps)
    throw new Error(
      `${effects.length} effects of ${threads * steps}: nothing was killed, and still some were doubled.`,
    );
  const until = Math.max(begun + 1, ...ledger.map(({ at }) => at));
  return { effects, seconds: (until - begun) / 1000, whole: effects.length >= threads * steps };
}

/** The mean, which has the turnovers of whatever a runtime does not do in each step. */
function meanMs(effects: readonly Entry[]): number {
  const [first, last] = [effects[0], effects.at(-1)];
  return first && last && effects.length > 1 ? (last.at - first.at) / (effects.length - 1) : Number.NaN;
}

export async function measureShort(ground: Ground, row: Row, { capMs }: Plan): Promise<ShortFigures> {
  const worker = await startPeerWorker(row.module, ground.options);
  try {
    await runThreads(worker, ground, 2, { steps: 10, capMs });
    const solo = await runThreads(worker, ground, 1, { steps: SHORT.solo, capMs });
    mustHaveRun(row, worker, solo);
    const crowd = await runThreads(worker, ground, SHORT.middle, { steps: SHORT.steps, capMs });
    return {
      stepMs: meanMs(solo.effects),
      stepsPerSecond: crowd.effects.length / crowd.seconds,
    };
  } finally {
    await worker.kill();
  }
}

function mustHaveRun(row: Row, { failures }: PeerWorker, { whole }: Ran): void {
  if (!whole) throw new Error(`${row.name} did not run its ${SHORT.solo} steps: ${failures.join('; ')}`);
}

export async function measureLong(ground: Ground, row: Row, { long, capMs }: Plan): Promise<LongFigures> {
  const worker = await startPeerWorker(row.module, ground.options);
  try {
    await runThreads(worker, ground, 2, { steps: 10, capMs });
    const bytes = await ground.bytes();
    const { effects, seconds, whole } = await runThreads(worker, ground, 1, { steps: long, capMs });
    const stalled = seconds * 1000 < capMs * 0.8 ? 'it went no further' : undefined;
    const [atFifty, atEnd] = [meanMs(effects.slice(25, 75)), meanMs(effects.slice(-50))];
    return {
      steps: effects.length,
      planned: long,
      lastStepMs: atEnd,
      // From the middle of the one window to the middle of the other.
      slopeUs: ((atEnd - atFifty) / (effects.length - 75)) * 1000,
      bytesPerStep: ((await ground.bytes()) - bytes) / effects.length,
      ...(!whole && { failure: worker.failures.at(-1) ?? stalled }),
    };
  } finally {
    await worker.kill();
  }
}

export async function measureCrowd(ground: Ground, row: Row, { crowd, capMs }: Plan): Promise<CrowdFigures> {
  const worker = await startPeerWorker(row.module, ground.options);
  try {
    await runThreads(worker, ground, 2, { steps: 10, capMs });
    const [cpu, server] = [(await worker.ask<Usage>('usage')).cpuMs, ground.serverMs()];
    const { effects, seconds, whole } = await runThreads(worker, ground, crowd, {
      steps: SHORT.steps,
      capMs,
    });
    const usage = await worker.ask<Usage>('usage');
    return {
      stepsPerSecond: effects.length / seconds,
      cut: !whole,
      rssMb: usage.rssMb,
      workerMs: (usage.cpuMs - cpu) / effects.length,
      serverMs: (ground.serverMs() - server) / effects.length,
    };
  } finally {
    await worker.kill();
  }
}

export async function measureKills(ground: Ground, row: Row, { kills }: Plan): Promise<KillFigures> {
  const first: number[] = [];
  const all: number[] = [];
  let refusal: string | undefined;
  const sum = { stuck: 0, effects: 0, doubled: 0, lost: 0 };
  for (let kill = 0; kill < kills; kill++) {
    const prefix = `k${++runs}-`;
    const threads = Array.from({ length: SHORT.killed }, (_, n) => `${prefix}${n}`);
    const read = () => readLedger(ground.options.ledger, prefix);
    const effects = () => read().filter(({ what }) => what === 'e');
    const ended = () => new Set(read().flatMap(({ what, thread }) => (what === 'd' ? [thread] : [])));
    const worker = await startPeerWorker(row.module, ground.options);
    for (const thread of threads) await worker.ask('run', thread, SHORT.steps);
    const most = SHORT.killed * SHORT.steps;
    const at = Math.floor(most * (0.1 + Math.random() * 0.6));
    await within(PATIENCE_MS, () => effects().length >= at);
    await worker.kill();
    const killedAt = Date.now();
    const [before, done] = [read().length, ended()];
    const next = await startPeerWorker(row.module, ground.options);
    try {
      const open = threads.filter((thread) => !done.has(thread));
      if (next.can.includes('resume'))
        await next.ask('resume', open).catch((error) => {
          refusal = (error as Error).message;
        });
      const patience = refusal === undefined ? PATIENCE_MS : REFUSED_MS;
      await within(patience, () => read().length > before);
      const firstAt = read()[before]?.at;
      if (firstAt) first.push((firstAt - killedAt) / 1000);
      const whole = await within(patience, () => ended().size === threads.length);
      if (whole) all.push((Math.max(...read().map(({ at }) => at)) - killedAt) / 1000);
    } finally {
      await next.kill();
    }
    const lines = effects();
    const distinct = new Set(lines.map(({ thread, n }) => `${thread} ${n}`)).size;
    sum.stuck += threads.length - ended().size;
    sum.effects += most;
    sum.doubled += lines.length - distinct;
    sum.lost += most - distinct;
  }
  return { firstSeconds: first, allSeconds: all, ...sum, refusal };
}

export async function measureCancel(ground: Ground, row: Row): Promise<CancelFigures> {
  const worker = await startPeerWorker(row.module, ground.options);
  try {
    const thread = `c${++runs}-0`;
    const seen = (what: Entry['what']) =>
      readLedger(ground.options.ledger, thread).find((entry) => entry.what === what)?.at;
    await worker.ask('hang', thread);
    await within(PATIENCE_MS, () => seen('h') !== undefined);
    const begun = Date.now();
    let reportedMs: number | undefined;
    const cancelled = worker.ask('cancel', thread).then(
      () => {
        reportedMs = Date.now() - begun;
      },
      () => undefined,
    );
    await within(CANCEL_WITHIN_MS, () => seen('a') !== undefined && reportedMs !== undefined);
    void cancelled;
    const abortedAt = seen('a');
    return { reportedMs, abortedMs: abortedAt === undefined ? undefined : abortedAt - begun };
  } finally {
    await worker.kill();
  }
}
