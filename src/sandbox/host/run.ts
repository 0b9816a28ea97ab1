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
import { errorMessage, isRuntimeError } from '../../core/error.ts';
import { keptBytes } from '../codec/wire.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { memoryMessage } from '../memory-message.ts';
import type { FromChild, Remark, Settlement } from '../protocol.ts';
import type { ChildEnd } from './child-process.ts';
import { HostFunctions, isInsideBridge } from './host-functions.ts';
import { Intake } from './intake.ts';
import type { Lease, Ticket } from './lease.ts';
import type { Account } from './ledger.ts';
import type { Tenant } from './line.ts';
import { LogBook } from './log-book.ts';
import { type CheckedOptions, checkOptions } from './options.ts';
import type { Pool } from './pool.ts';
import { ReportBook, TOO_MANY_REPORTS } from './report-book.ts';

export interface Run {
  readonly execution: CodeExecution;
  /** Ends the run, or lets go of the functions of its result. */
  release(why: string): void;
}

export interface RunRequest {
  /** Whoever's code this is: no child serves another after it. */
  readonly tenant: Tenant;
  readonly source: string;
  readonly options: unknown;
}

type Failure = Exclude<CodeExecutionStatus, 'success'>;
type Outcome =
  | { readonly status: 'success'; readonly result: unknown }
  | { readonly status: Failure; readonly error: CodeExecutionError };
type Job = Extract<CheckedOptions, { ok: true }>;
type Success = Extract<Settlement, { status: 'success' }>;

let lastId = 0;

export function startRun(pool: Pool, { tenant, source, options }: RunRequest): Run {
  const run = new SandboxRun(pool);
  run.start(tenant, source, options);
  return run;
}

class SandboxRun implements Run {
  readonly execution: CodeExecution;
  readonly #pool: Pool;
  readonly #began = performance.now();
  readonly #settled = Promise.withResolvers<CodeExecutionResult>();
  readonly #begun = Promise.withResolvers<boolean>();
  readonly #id = ++lastId;
  /** Of reports and logs, until they are the caller's. */
  readonly #account: Account;
  readonly #intake: Intake;
  readonly #functions: HostFunctions;
  readonly #logs: LogBook;
  readonly #reports: ReportBook;
  #running = true;
  #lease: Lease | undefined;
  #ticket: Ticket | undefined;
  #report: Job['report'];
  #memoryBytes = 0;

  constructor(pool: Pool) {
    this.#pool = pool;
    this.#account = pool.ledger.open();
    this.#intake = new Intake((taken) => this.#lease?.send({ kind: 'taken', run: this.#id, ...taken }));
    this.#functions = new HostFunctions({
      send: (crossing) => this.#lease?.send({ kind: 'crossing', run: this.#id, crossing }),
      intake: this.#intake,
      account: pool.ledger.open(),
    });
    this.#logs = new LogBook(this.#account);
    this.#reports = new ReportBook({
      intake: this.#intake,
      account: this.#account,
      door: this.#functions.door,
      onThrown: (message) => this.#logs.note('error', message),
    });
    this.execution = this.#handle();
  }

  start(tenant: Tenant, source: string, options: unknown): void {
    const checked = checkOptions(source, options, this.#functions.door);
    if (checked.ok) this.#enter(tenant, checked);
    else this.#settle({ status: 'link_error', error: checked.error });
  }

  #enter(tenant: Tenant, checked: Job): void {
    this.#memoryBytes = checked.job.memoryBytes;
    // Called in the async context of whoever gave it (host-functions.ts).
    this.#report = checked.report && AsyncLocalStorage.bind(checked.report);
    const entry = { job: { ...checked.job, id: this.#id }, tenant, outside: isInsideBridge() };
    this.#ticket = this.#pool.enter(entry, {
      onLease: (lease) => {
        this.#lease = lease;
        this.#begun.resolve(true);
      },
      onMessage: (message) => this.#onMessage(message),
      onEnd: (end) => this.#onEnd(end),
    });
    if (!this.#ticket) this.#terminate(BUSY, 'SandboxBusy');
  }

  release(why: string): void {
    this.#terminate(why);
    this.#abandon(why);
  }

  #handle(): CodeExecution {
    const isRunning = () => this.#running;
    return {
      // biome-ignore lint/suspicious/noThenProperty: the handle is a promise-like by the spec (§13.9).
      then: (onFulfilled, onRejected) => this.#settled.promise.then(onFulfilled, onRejected),
      terminate: (reason) =>
        this.#terminate(typeof reason === 'string' && reason !== '' ? reason : 'The run was terminated.'),
      get running() {
        return isRunning();
      },
      reports: this.#reports.values,
      begun: this.#begun.promise,
    };
  }

  #settle(outcome: Outcome, memoryUsedBytes?: number): void {
    if (!this.#running) return;
    this.#running = false;
    this.#begun.resolve(false);
    this.#settled.resolve({
      ...outcome,
      reports: this.#reports.values,
      logs: this.#logs.entries((wire) => this.#intake.read(wire)),
      durationMs: performance.now() - this.#began,
      ...(memoryUsedBytes === undefined ? {} : { memoryUsedBytes }),
    });
    this.#account.close();
  }

  #terminate(message: string, name = 'Terminated'): void {
    if (!this.#running) return;
    this.#settle({ status: 'terminated', error: { name, message } });
    this.#abandon(message);
  }

  #abandon(why: string): void {
    this.#ticket?.cancel();
    this.#lease?.stop();
    this.#close(why);
  }

  #close(why: string): void {
    this.#lease = undefined;
    this.#intake.close();
    this.#functions.close(why);
  }

  /** What a child says is not to be believed: whatever cannot be read ends the run, never this process. */
  #onMessage(message: FromChild): void {
    try {
      this.#receive(message);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    const message = errorMessage(error);
    if (isRuntimeError(error, 'SandboxBusy')) {
      this.#terminate(message, 'SandboxBusy');
    } else {
      const told = `The sandbox process said what cannot be read: ${message}`;
      this.#settle({ status: 'error', error: { name: 'SandboxCrashed', message: told } });
    }
    this.#abandon(ENDED);
  }

  #receive(message: FromChild): void {
    if (message.kind === 'settled') {
      this.#onSettled(message.settlement, message.memoryUsedBytes);
    } else if (message.kind === 'crossing') {
      this.#functions.receive(message.crossing);
      this.#intake.take(message.crossing.wire);
    } else if (message.kind === 'remark') {
      if (this.#running) this.#onRemark(message.remark);
      this.#intake.take(message.remark.wire);
    }
  }

  #onRemark(remark: Remark): void {
    if (remark.kind === 'log') this.#logs.add(remark.level, remark.wire);
    else if (!this.#reports.add(remark.wire, this.#report)) this.#terminate(TOO_MANY_REPORTS);
  }

  #onSettled(settlement: Settlement, memoryUsedBytes: number | undefined): void {
    if (!this.#running) return;
    if (settlement.status === 'success') {
      this.#onSuccess(settlement, memoryUsedBytes);
    } else {
      this.#settle({ status: settlement.status, error: settlement.error }, memoryUsedBytes);
      this.#close(ENDED);
    }
  }

  #onSuccess({ wire, held }: Success, memoryUsedBytes: number | undefined): void {
    // Only while it is read: then it is the caller's.
    this.#account.hold(keptBytes(wire));
    let result: unknown;
    try {
      result = this.#intake.read(wire, this.#functions.door);
    } catch (error) {
      this.#settle({ status: 'error', error: { name: 'SerializationError', message: errorMessage(error) } });
      this.#abandon(ENDED);
      return;
    }
    if (held && !this.#lease?.hold()) {
      this.#terminate(BUSY, 'SandboxBusy');
      return;
    }
    this.#settle({ status: 'success', result }, memoryUsedBytes);
    if (!held) this.#close(ENDED);
  }

  #onEnd(end: ChildEnd): void {
    if (end.kind === 'memory') {
      const message = memoryMessage(this.#memoryBytes);
      this.#settle({ status: 'memory', error: { name: 'MemoryError', message } });
    } else {
      const message = `The sandbox process ended in the middle of the run: ${end.how}.`;
      this.#settle({ status: 'error', error: { name: 'SandboxCrashed', message } });
    }
    this.#close(ENDED);
  }
}

const ENDED = 'The sandbox run that this function belongs to has ended.';
const BUSY =
  `${SANDBOX_LIMITS.outsidePool} sandbox runs are nested, or held for functions of their results: there is no room ` +
  'for one more. Return data instead of functions, or wait for the others.';
