/**
 * What each engine fails to contain. Every program runs in a separate host process, `hostile-child.ts`, with a limit of
 * 32 MiB and a deadline of 200 ms; the bench watches it from outside and kills it if it runs for more than 5 s or grows
 * by 1.5 GiB. Verdicts follow only from messages of the host, its end, and /proc.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { EngineName } from './engine.ts';
import { type FromHost, HOSTILE_DEADLINE_MS, HOSTILE_MEMORY, type ToHost } from './hostile-child.ts';
import type { Hostile } from './hostile-programs.ts';
import { type Usage, type Watch, watchProcess } from './process-watch.ts';

const CHILD = fileURLToPath(new URL('./hostile-child.ts', import.meta.url));
const MIB = 1024 * 1024;
const PATIENCE_MS = 5000;
const GROWTH_CAP = 1536 * MIB;
/** Limits by the kernel, in case the bench itself ends: seconds of processor time, and KiB of data. */
const KERNEL_LIMITS = 'ulimit -t 20; ulimit -d 8388608; exec "$@"';

export type Verdict =
  | 'held'
  /**
   * `late`: ended, but a second or more after the deadline. `over limit`: the program took over four times its memory.
   */
  | 'late'
  | 'over limit'
  | 'not stopped'
  | 'host died'
  | 'host reached'
  | 'delivered'
  | 'allowed';

export interface Finding {
  readonly program: string;
  readonly engine: EngineName;
  readonly verdict: Verdict;
  readonly how: string;
  /** Milliseconds until the host had its answer. */
  readonly answeredMs: number | undefined;
  /** Milliseconds until nothing was running. */
  readonly quietMs: number | undefined;
  /** Growth of the process that grew most, and of the host. */
  readonly peakMib: number;
  readonly hostMib: number;
  /** The longest time for which the host's event loop was blocked. */
  readonly stallMs: number | undefined;
  /** True if the engine answered the next call; undefined if there was no host to ask. */
  readonly servesOn: boolean | undefined;
}

type Settled = Extract<FromHost, { kind: 'settled' }>;

const LATE_MS = 1000;
const OVER_MIB = (4 * HOSTILE_MEMORY) / MIB;

export async function tryHostile(engine: EngineName, program: Hostile): Promise<Finding> {
  const command = [process.execPath, CHILD, engine, program.name];
  const host = spawn('/bin/sh', ['-c', KERNEL_LIMITS, 'sh', ...command], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    detached: true,
  });
  const kill = () => killGroup(host);
  process.once('exit', kill);
  try {
    return await observe(engine, program, host);
  } finally {
    kill();
    process.off('exit', kill);
  }
}

async function observe(engine: EngineName, program: Hostile, host: ChildProcess): Promise<Finding> {
  const said = new Map<FromHost['kind'], FromHost>();
  let ending: string | undefined;
  let stderr = '';
  host.on('message', (message: FromHost) => said.set(message.kind, message));
  host.stderr?.on('data', (text) => (stderr = `${stderr}${text}`.slice(0, 4000)));
  host.once('exit', (code, signal) => (ending = signal ?? `exit code ${code}`));
  const tell = (what: ToHost) => host.connected && host.send(what, () => undefined);

  const watch = watchProcess(host.pid ?? -1);
  await settleDown(() => said.has('ready') || ending !== undefined, watch);
  if (!said.has('ready')) throw new Error(`${engine} did not start: ${ending} ${stderr}`);

  tell('begin');
  const startedAt = performance.now();
  const usage = await watchRun(watch, startedAt, () => ({
    settled: said.has('settled'),
    ended: ending !== undefined,
  }));
  const settled = said.get('settled') as Settled | undefined;
  if (settled && !usage.stillRunning) {
    tell('again');
    await until(() => said.has('after') || ending !== undefined, 3000);
  }
  const after = said.get('after') as Extract<FromHost, { kind: 'after' }> | undefined;
  const facts = { settled, usage, ending, lastWords: lastWords(stderr) };
  return {
    program: program.name,
    engine,
    ...judge(program, facts),
    answeredMs: settled?.ms,
    quietMs: usage.stillRunning ? undefined : Math.max(usage.quietMs, settled?.ms ?? 0),
    peakMib: usage.peakBytes / MIB,
    hostMib: usage.rootPeakBytes / MIB,
    stallMs: settled?.stallMs,
    servesOn: settled && !usage.stillRunning ? after?.served === true : undefined,
  };
}

interface Watched extends Usage {
  readonly quietMs: number;
  readonly stillRunning: boolean;
  readonly grewTooFar: boolean;
}

/** Watches until the host has its answer and nothing is busy, or the host has ended, or the time is up. */
async function watchRun(
  watch: Watch,
  startedAt: number,
  look: () => { settled: boolean; ended: boolean },
): Promise<Watched> {
  let quietMs = 0;
  for (;;) {
    await delay(10);
    const usage = watch.sample();
    const ms = performance.now() - startedAt;
    const { settled, ended } = look();
    if (!settled || usage.busy > 0.2) quietMs = ms;
    const grewTooFar = usage.peakBytes > GROWTH_CAP;
    const done = ended || (settled && ms - quietMs > 60);
    if (done || grewTooFar || ms > PATIENCE_MS) return { ...usage, quietMs, stillRunning: !done, grewTooFar };
  }
}

interface Facts {
  readonly settled: Settled | undefined;
  readonly usage: Watched;
  readonly ending: string | undefined;
  readonly lastWords: string;
}

function judge(
  program: Hostile,
  { settled, usage, ending, lastWords }: Facts,
): { verdict: Verdict; how: string } {
  const { harm } = program;
  if (settled?.harm && harm !== 'ends') {
    return { verdict: harm === 'reached' ? 'host reached' : harm, how: settled.harm };
  }
  if (usage.stillRunning) {
    const why = usage.grewTooFar
      ? `killed by the bench at +${GROWTH_CAP / MIB} MiB`
      : `runs on after ${PATIENCE_MS} ms`;
    return { verdict: 'not stopped', how: settled ? `${settled.outcome.status}, but ${why}` : why };
  }
  if (!settled) return { verdict: 'host died', how: [ending, lastWords].filter(Boolean).join(': ') };
  const { status, message = '' } = settled.outcome;
  const how = status === 'error' ? message.slice(0, 72) : status;
  if (harm === 'ends' && usage.quietMs > (program.deadlineMs ?? HOSTILE_DEADLINE_MS) + LATE_MS)
    return { verdict: 'late', how };
  if (usage.peakBytes / MIB > OVER_MIB) return { verdict: 'over limit', how };
  return { verdict: 'held', how: harm !== 'ends' && status === 'success' ? 'found no way' : how };
}

function lastWords(stderr: string): string {
  const lines = stderr.split('\n');
  const line = lines.find((each) => /fatal|out of memory|error/i.test(each)) ?? '';
  return line.trim().slice(0, 60);
}

/** Waits until the host is warm and nothing is starting: growth counts only from then on. */
async function settleDown(ready: () => boolean, watch: Watch): Promise<void> {
  await until(ready, 10_000);
  let calm = 0;
  for (let i = 0; i < 200 && calm < 6; i++) {
    watch.begin();
    await delay(10);
    calm = watch.sample().busy < 0.2 ? calm + 1 : 0;
  }
  watch.begin();
}

async function until(condition: () => boolean, ms: number): Promise<void> {
  const endsAt = performance.now() + ms;
  while (!condition() && performance.now() < endsAt) await delay(5);
}

/** Kills the host with every process that it started. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
