/**
 * A thread beside the event loop of a worker process. It sees what that loop cannot see of itself:
 * D1. That it computes without end (stall.ts). The thread stops it in the midst, asks who works there, tells the supervisor and ends
 *     the process. Whatever it is that computes, JavaScript or a regular expression, the engine lets itself be stopped.
 * D2. That the supervisor is gone: then nobody ends this process but itself, whatever it does.
 */
import { readFileSync, writeSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { workerData } from 'node:worker_threads';
import { type Culprit, isUnit, type JournalLine, toLine } from '../supervisor/index.ts';
import { StallMeter } from './stall.ts';
import type { WatchdogOrder } from './watchdog.ts';

const { beats, limitMs, journalFd, parentPid } = workerData as WatchdogOrder;
const counter = new Int32Array(beats);
const LOOK_MS = 250;
/** A thread on a busy machine may need a while to come by a place where it can be stopped. */
const STOP_WITHIN_MS = 10_000;
const STACK_CHARS = 4_000;
const TICK_MS = 10;

const sample = () => ({ beats: Atomics.load(counter, 0), cpuMs: mainThreadCpuMs() });
const meter = new StallMeter(sample());

const timer = setInterval(() => {
  // D2.
  if (process.ppid !== parentPid) end();
  const stalledMs = meter.measure(sample());
  if (limitMs === 0 || stalledMs < limitMs) return;
  clearInterval(timer);
  stopLoop(stalledMs);
}, LOOK_MS);

/** D1. */
function stopLoop(forMs: number): void {
  const session = new Session();
  session.connectToMainThread();
  session.on('Debugger.paused', ({ params }) => askFrame(session, params.callFrames, forMs));
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  setTimeout(() => tellAndEnd({ kind: 'stalled', forMs }), STOP_WITHIN_MS);
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
    tellAndEnd({ kind: 'stalled', forMs, culprit: readAnswer(result?.value) });
  });
}

function readAnswer(text: unknown): Culprit | undefined {
  try {
    const { culprit, stack } = JSON.parse(String(text)) as { culprit?: unknown; stack?: unknown };
    if (!isUnit(culprit)) return undefined;
    // Above the place where it was stopped lies the question itself.
    const frames = String(stack).split('\n').slice(2).join('\n');
    return { ...culprit, stack: frames.slice(0, STACK_CHARS) };
  } catch {
    return undefined;
  }
}

function tellAndEnd(line: JournalLine): void {
  try {
    writeSync(journalFd, toLine(line));
  } finally {
    end();
  }
}

function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Linux tells it of each thread; elsewhere the process as a whole is nearly always this thread. */
function mainThreadCpuMs(): number {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
  const stat = readFileSync(`/proc/${process.pid}/task/${process.pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
