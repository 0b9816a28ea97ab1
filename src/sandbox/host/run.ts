/**
 * One run on its caller's side: waiting, running, settled, perhaps held for the functions of its result.
 * It settles once, and immediately when it is told to end; the pool ends what the child still does then.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { CodeExecution, CodeExecutionResult } from '../../core/author/code-execution.ts';
import { errorMessage } from '../../core/value/error.ts';
import { estimateMemory, type FunctionTable, type Wire } from '../codec/wire.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import type { FromChild, Remark, Settlement } from '../protocol.ts';
import type { ChildEnd } from './child-process.ts';
import { callInsideBridge, HostFunctions, isInsideBridge } from './host-functions.ts';
import { Intake } from './intake.ts';
import type { Account } from './ledger.ts';
import { LogBook } from './log-book.ts';
import type { Lease, Ticket } from './member.ts';
import { type CheckedOptions, checkOptions } from './options.ts';
import type { Pool } from './pool.ts';
import {
  busyOutcome,
  childEndOutcome,
  ENDED,
  endReason,
  type Outcome,
  terminatedOutcome,
  unreadableOutcome,
  unreadableResult,
} from './run-outcome.ts';
import type { Tenant } from './run-queue.ts';

export interface Run {
  readonly execution: CodeExecution;
  /** Ends the run, or releases the functions of its result. */
  release(why: string): void;
}

export interface RunRequest {
  /** Whose code this is: its child never serves another tenant. */
  readonly tenant: Tenant;
  readonly source: string;
  readonly options: unknown;
}

type State =
  | { readonly kind: 'new' }
  | { readonly kind: 'waiting'; readonly ticket: Ticket }
  | { readonly kind: 'running'; readonly lease: Lease }
  /** Settled, and its isolate is kept for the functions of its result. */
  | { readonly kind: 'held'; readonly lease: Lease }
  | { readonly kind: 'ended' };
type Job = Extract<CheckedOptions, { ok: true }>;
type Settled = Extract<FromChild, { kind: 'settled' }>;
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
  readonly #startedAt = performance.now();
  readonly #settled = Promise.withResolvers<CodeExecutionResult>();
  readonly #begun = Promise.withResolvers<boolean>();
  readonly #id = ++lastId;
  /** Accounts for reports and logs until they are passed to the caller. */
  readonly #account: Account;
  readonly #intake: Intake;
  readonly #functions: HostFunctions;
  readonly #logs: LogBook;
  readonly #reports: ReportBook;
  #state: State = { kind: 'new' };

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
      functionTable: this.#functions.table,
      onThrown: (message) => this.#logs.note('error', message),
    });
    this.execution = this.#handle();
  }

  start(tenant: Tenant, source: string, options: unknown): void {
    const checked = checkOptions(source, options, this.#functions.table);
    if (checked.ok) this.#enter(tenant, checked);
    else this.#finish({ status: 'link_error', error: checked.error });
  }

  release(why: string): void {
    this.#terminate(why);
    this.#abandon(why);
  }

  #enter(tenant: Tenant, { job, report }: Job): void {
    // `report` is called in the async context in which the run was started (host-functions.ts).
    if (report) this.#reports.deliverTo(AsyncLocalStorage.bind(report));
    const entry = { job: { ...job, id: this.#id }, tenant, outside: isInsideBridge() };
    const ticket = this.#pool.enter(entry, {
      onLease: (lease) => this.#begin(lease),
      onMessage: (message) => this.#onMessage(message),
      onEnd: (end) => this.#onEnd(end, job.memoryBytes),
    });
    if (!ticket) this.#end(busyOutcome());
    // The run may have begun by now, or ended.
    else if (this.#state.kind === 'new') this.#state = { kind: 'waiting', ticket };
  }

  #begin(lease: Lease): void {
    this.#state = { kind: 'running', lease };
    this.#begun.resolve(true);
  }

  #handle(): CodeExecution {
    const isRunning = () => this.#isRunning();
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

  /** True until the run settles. */
  #isRunning(): boolean {
    return this.#state.kind !== 'held' && this.#state.kind !== 'ended';
  }

  get #lease(): Lease | undefined {
    return this.#state.kind === 'running' || this.#state.kind === 'held' ? this.#state.lease : undefined;
  }

  /** Settles the run; the calling method must set the next state in the same turn. */
  #settle(outcome: Outcome, memoryUsedBytes?: number): void {
    this.#begun.resolve(false);
    this.#settled.resolve({
      ...outcome,
      reports: this.#reports.values,
      logs: this.#logs.entries((wire) => this.#intake.read(wire)),
      durationMs: performance.now() - this.#startedAt,
      ...(memoryUsedBytes === undefined ? {} : { memoryUsedBytes }),
    });
    this.#account.close();
  }

  /** Settles the run, if the child has no more work for it or has been ended by the pool. */
  #finish(outcome: Outcome, memoryUsedBytes?: number): void {
    this.#settle(outcome, memoryUsedBytes);
    this.#close(ENDED);
  }

  #terminate(message: string): void {
    if (this.#isRunning()) this.#end(terminatedOutcome(message));
  }

  /** Settles the run if it is running, and ends the child's work for it. */
  #end(outcome: Outcome): void {
    if (this.#isRunning()) this.#settle(outcome);
    this.#abandon(endReason(outcome));
  }

  #abandon(why: string): void {
    if (this.#state.kind === 'waiting') this.#state.ticket.cancel();
    else this.#lease?.stop();
    this.#close(why);
  }

  #close(why: string): void {
    this.#state = { kind: 'ended' };
    this.#intake.close();
    this.#functions.close(why);
  }

  /** A child's messages are not trusted: one that cannot be read ends the run, never this process. */
  #onMessage(message: FromChild): void {
    if (this.#state.kind === 'ended') return;
    try {
      this.#receive(message);
    } catch (error) {
      this.#end(unreadableOutcome(error));
    }
  }

  #receive(message: FromChild): void {
    if (message.kind === 'settled') {
      if (this.#isRunning()) this.#onSettled(message);
    } else if (message.kind === 'crossing') {
      this.#functions.receive(message.crossing);
      this.#intake.take(message.crossing.wire);
    } else if (message.kind === 'remark') {
      if (this.#isRunning()) this.#onRemark(message.remark);
      this.#intake.take(message.remark.wire);
    }
  }

  #onRemark(remark: Remark): void {
    if (remark.kind === 'log') this.#logs.add(remark.level, remark.wire);
    else if (!this.#reports.add(remark.wire)) this.#terminate(TOO_MANY_REPORTS);
  }

  #onSettled({ settlement, memoryUsedBytes }: Settled): void {
    if (settlement.status === 'success') this.#onSuccess(settlement, memoryUsedBytes);
    else this.#finish({ status: settlement.status, error: settlement.error }, memoryUsedBytes);
  }

  #onSuccess({ wire, held }: Success, memoryUsedBytes: number | undefined): void {
    // Counted only while it is read: then the result is the caller's.
    this.#account.hold(estimateMemory(wire));
    let result: unknown;
    try {
      result = this.#intake.read(wire, this.#functions.table);
    } catch (error) {
      this.#end(unreadableResult(error));
      return;
    }
    if (held) this.#hold({ status: 'success', result }, memoryUsedBytes);
    else this.#finish({ status: 'success', result }, memoryUsedBytes);
  }

  #hold(outcome: Outcome, memoryUsedBytes: number | undefined): void {
    const lease = this.#lease;
    if (lease?.hold()) {
      this.#settle(outcome, memoryUsedBytes);
      this.#state = { kind: 'held', lease };
    } else this.#end(busyOutcome());
  }

  #onEnd(end: ChildEnd, memoryBytes: number): void {
    if (this.#isRunning()) this.#finish(childEndOutcome(end, memoryBytes));
    else this.#close(ENDED);
  }
}

/** The values that code reported: delivered in order as they arrive, up to a bound beyond which the run is ended. */
interface ReportBookParts {
  readonly intake: Intake;
  readonly account: Account;
  readonly functionTable: FunctionTable;
  readonly onThrown: (message: string) => void;
}

const TOO_MANY_REPORTS =
  `The code reported more than ${SANDBOX_LIMITS.reportEntries} values or ${SANDBOX_LIMITS.reportBytes} bytes, ` +
  'and was ended.';

class ReportBook {
  /** The caller holds this array and sees new values as they arrive. */
  readonly values: unknown[] = [];
  readonly #parts: ReportBookParts;
  #report: ((value: unknown) => unknown) | undefined;
  #bytes = 0;

  constructor(parts: ReportBookParts) {
    this.#parts = parts;
  }

  /** Also passes each report to `report`, in order. */
  deliverTo(report: (value: unknown) => unknown): void {
    this.#report = report;
  }

  /** Returns false, without reading the value, if it is more than a run may report. */
  add(wire: Wire): boolean {
    const bytes = estimateMemory(wire);
    const { reportEntries, reportBytes } = SANDBOX_LIMITS;
    if (this.values.length >= reportEntries || this.#bytes + bytes > reportBytes) return false;
    const { account, intake, functionTable } = this.#parts;
    account.hold(bytes);
    this.#bytes += bytes;
    const value = intake.read(wire, functionTable);
    this.values.push(value);
    this.#callReport(value);
    return true;
  }

  /** Calls `report`. An async one may reject later: without a handler, that would crash this process. */
  #callReport(value: unknown): void {
    const { onThrown } = this.#parts;
    const thrown = (error: unknown) => onThrown(`options.report threw: ${errorMessage(error)}`);
    try {
      Promise.resolve(callInsideBridge(() => this.#report?.(value))).catch(thrown);
    } catch (error) {
      thrown(error);
    }
  }
}
