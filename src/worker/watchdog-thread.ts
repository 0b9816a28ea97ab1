/**
 * A thread beside the event loop of a worker process. It detects what a blocked loop cannot detect itself:
 * - The loop computes endlessly (stall.ts). The thread interrupts it, reads which unit is running, reports that to
 *   the supervisor and kills the process. V8 can be interrupted both in JavaScript and in regular expressions.
 * - The supervisor has ended. Then nothing but this thread can end the process while its event loop is blocked.
 */
import { readFileSync, writeSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { workerData } from 'node:worker_threads';
import { type Culprit, isUnit, type JournalLine, toLine } from '../supervisor/index.ts';
import { StallMeter } from './stall.ts';
import type { WatchdogOrder } from './watchdog.ts';

const { beats, limitMs, journalFd, parentPid } = workerData as WatchdogOrder;
const counter = new Int32Array(beats);
const CHECK_INTERVAL_MS = 250;
/** Limit for the interruption: on a busy machine a thread may need a while to reach a point where it can be paused. */
const STOP_WITHIN_MS = 10_000;
const STACK_CHARS = 4_000;
const TICK_MS = 10;

const sample = () => ({ beats: Atomics.load(counter, 0), cpuMs: mainThreadCpuMs() });
const meter = new StallMeter(sample());

const timer = setInterval(() => {
  if (process.ppid !== parentPid) killProcess();
  const stalledMs = meter.measure(sample());
  if (limitMs === 0 || stalledMs < limitMs) return;
  clearInterval(timer);
  stopLoop(stalledMs);
}, CHECK_INTERVAL_MS);

/** Interrupts the event loop, reports the running unit, and kills the process. */
function stopLoop(forMs: number): void {
  const session = new Session();
  session.connectToMainThread();
  session.on('Debugger.paused', ({ params }) => askFrame(session, params.callFrames, forMs));
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  setTimeout(() => writeAndKill({ kind: 'stalled', forMs }), STOP_WITHIN_MS);
}

const QUESTION = `JSON.stringify({
  culprit: globalThis[Symbol.for('everthread.culprit')]?.(),
  stack: new Error('').stack,
})`;

function askFrame(session: Session, [frame]: readonly Debugger.CallFrame[], forMs: number): void {
  if (!frame) return;
  const question = { callFrameId: frame.callFrameId, expression: QUESTION, returnByValue: true };
  session.post('Debugger.evaluateOnCallFrame', question, (_error, answer) => {
    const { result } = (answer ?? {}) as Partial<Debugger.EvaluateOnCallFrameReturnType>;
    writeAndKill({ kind: 'stalled', forMs, culprit: readAnswer(result?.value) });
  });
}

function readAnswer(text: unknown): Culprit | undefined {
  try {
    const { culprit, stack } = JSON.parse(String(text)) as { culprit?: unknown; stack?: unknown };
    if (!isUnit(culprit)) return undefined;
    // The topmost frame is the evaluated expression itself.
    const frames = String(stack).split('\n').slice(2).join('\n');
    return { ...culprit, stack: frames.slice(0, STACK_CHARS) };
  } catch {
    return undefined;
  }
}

function writeAndKill(line: JournalLine): void {
  try {
    writeSync(journalFd, toLine(line));
  } finally {
    killProcess();
  }
}

function killProcess(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** CPU time of the main thread in milliseconds; that of the process except on Linux, which reports it per thread. */
function mainThreadCpuMs(): number {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
  const stat = readFileSync(`/proc/${process.pid}/task/${process.pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
