/**
 * One run as its caller holds it: waiting, running, settled, perhaps held for the functions of its result.
 * It settles once, and at once when it is told to end; what the child still does then is the pool's to end.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type {
  CodeExecution,
  CodeExecutionError,
  CodeExecutionResult,
  CodeExecutionStatus,
} from '../../core/code-execution.ts';
import { errorMessage } from '../../core/error.ts';
import { decode } from '../codec/decode.ts';
import { keptBytes, type Wire, wireBytes } from '../codec/wire.ts';
import { SANDBOX_LIMITS, TRANSFER } from '../limits.ts';
import { memoryMessage } from '../memory-message.ts';
import { type FromChild, LOG_LEVELS, type Remark, type Settlement } from '../protocol.ts';
import type { ChildEnd } from './child-process.ts';
import { callInsideBridge, createHostFunctions, isInsideBridge } from './host-functions.ts';
import { createLogBook } from './log-book.ts';
import { checkOptions } from './options.ts';
import type { Lease, Pool, Ticket } from './pool.ts';

export interface Run {
  readonly execution: CodeExecution;
  /** Ends the run, or lets go of the functions of its result. */
  release(why: string): void;
}

/** How much may be taken from a child before it is told so. */
const TAKEN_MESSAGES = 32;
const TAKEN_BYTES = 256 * 1024;

let lastId = 0;

export function startRun(pool: Pool, source: string, options: unknown): Run {
  const begun = performance.now();
  const settled = Promise.withResolvers<CodeExecutionResult>();
  const reports: unknown[] = [];
  const logs = createLogBook();
  let running = true;
  let lease: Lease | undefined;
  let ticket: Ticket | undefined;
  let reportBytes = 0;
  let taken = { count: 0, bytes: 0 };
  lastId += 1;
  const id = lastId;

  const functions = createHostFunctions((crossing) => lease?.send({ kind: 'crossing', run: id, crossing }));

  const settle = (
    outcome: { status: 'success'; result: unknown } | { status: Failure; error: CodeExecutionError },
    memoryUsedBytes?: number,
  ) => {
    if (!running) return;
    running = false;
    settled.resolve({
      ...outcome,
      reports,
      logs: logs.entries(),
      durationMs: performance.now() - begun,
      ...(memoryUsedBytes === undefined ? {} : { memoryUsedBytes }),
    });
  };
  const abandon = (why: string) => {
    ticket?.cancel();
    lease?.stop();
    lease = undefined;
    functions.close(why);
  };
  const terminate = (message: string, name = 'Terminated') => {
    if (!running) return;
    settle({ status: 'terminated', error: { name, message } });
    abandon(message);
  };

  const onSettled = (settlement: Settlement, memoryUsedBytes: number | undefined) => {
    if (settlement.status !== 'success') {
      settle({ status: settlement.status, error: settlement.error }, memoryUsedBytes);
      return functions.close(ENDED);
    }
    try {
      const result = decode(settlement.wire, functions.door, TRANSFER);
      if (settlement.held && !lease?.hold()) return terminate(BUSY, 'SandboxBusy');
      settle({ status: 'success', result }, memoryUsedBytes);
      if (!settlement.held) functions.close(ENDED);
    } catch (error) {
      settle({ status: 'error', error: { name: 'SerializationError', message: errorMessage(error) } });
      abandon(ENDED);
    }
  };
  const onRemark = (remark: Remark) => {
    const at = Date.now();
    if (remark.kind === 'log') {
      const args = decode(remark.wire, undefined, TRANSFER) as unknown[];
      logs.add({ level: LOG_LEVELS[remark.level] ?? 'log', args, timestamp: at }, keptBytes(remark.wire));
      return;
    }
    reportBytes += keptBytes(remark.wire);
    const { reportEntries, reportBytes: limit } = SANDBOX_LIMITS;
    if (reports.length >= reportEntries || reportBytes > limit) {
      return terminate(
        `The code reported more than ${reportEntries} values or ${limit} bytes, and was ended.`,
      );
    }
    const value = decode(remark.wire, functions.door, TRANSFER);
    reports.push(value);
    const onThrown = (error: unknown) => {
      const args = [`options.report threw: ${errorMessage(error)}`];
      logs.add({ level: 'error', args, timestamp: at }, 0);
    };
    try {
      // An async one may reject later, and would end this process unheard.
      Promise.resolve(callInsideBridge(() => report?.(value))).catch(onThrown);
    } catch (error) {
      onThrown(error);
    }
  };
  /** What a child says is not to be believed: whatever cannot be read ends the run, never this process. */
  const onMessage = (message: FromChild) => {
    try {
      receive(message);
    } catch (error) {
      const told = `The sandbox process said what cannot be read: ${errorMessage(error)}`;
      settle({ status: 'error', error: { name: 'SandboxCrashed', message: told } });
      abandon(ENDED);
    }
  };
  const receive = (message: FromChild) => {
    if (message.kind === 'settled') return onSettled(message.settlement, message.memoryUsedBytes);
    if (message.kind === 'crossing') {
      functions.receive(message.crossing);
      take(message.crossing.wire);
    } else if (message.kind === 'remark') {
      if (running) onRemark(message.remark);
      take(message.remark.wire);
    }
  };
  const take = (wire: Wire) => {
    taken = { count: taken.count + 1, bytes: taken.bytes + wireBytes(wire) };
    if (taken.count < TAKEN_MESSAGES && taken.bytes < TAKEN_BYTES) return;
    lease?.send({ kind: 'taken', run: id, ...taken });
    taken = { count: 0, bytes: 0 };
  };
  const onEnd = (end: ChildEnd) => {
    lease = undefined;
    if (end.kind === 'memory') {
      settle({ status: 'memory', error: { name: 'MemoryError', message: memoryMessage(memoryBytes) } });
    } else {
      const message = `The sandbox process ended in the middle of the run: ${end.how}.`;
      settle({ status: 'error', error: { name: 'SandboxCrashed', message } });
    }
    functions.close(ENDED);
  };

  const checked = checkOptions(source, options, functions.door);
  const memoryBytes = checked.ok ? checked.job.memoryBytes : 0;
  // Called in the async context of whoever gave it (host-functions.ts).
  const report = checked.ok && checked.report ? AsyncLocalStorage.bind(checked.report) : undefined;
  if (checked.ok) {
    const job = { ...checked.job, id };
    ticket = pool.enter(job, isInsideBridge(), {
      onLease(given) {
        lease = given;
      },
      onMessage,
      onEnd,
    });
    if (!ticket) terminate(BUSY, 'SandboxBusy');
  } else {
    settle({ status: 'link_error', error: checked.error });
  }

  return {
    execution: {
      // biome-ignore lint/suspicious/noThenProperty: the handle is a promise-like by the spec (§13.9).
      then: (onFulfilled, onRejected) => settled.promise.then(onFulfilled, onRejected),
      terminate: (reason) => terminate(typeof reason === 'string' && reason !== '' ? reason : TERMINATED),
      get running() {
        return running;
      },
      reports,
    },
    release(why) {
      terminate(why);
      abandon(why);
    },
  };
}

type Failure = Exclude<CodeExecutionStatus, 'success'>;

const TERMINATED = 'The run was terminated.';
const ENDED = 'The sandbox run that this function belongs to has ended.';
const BUSY =
  `${SANDBOX_LIMITS.outsidePool} sandbox runs are nested, or held for functions of their results: there is no room ` +
  'for one more. Return data instead of functions, or wait for the others.';
