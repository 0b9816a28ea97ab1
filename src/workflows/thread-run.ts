/**
 * The state of a thread's workflow in one run, and what its handlers may do to it.
 * S1. Handlers are synchronous and only change this state; the main loop alone acts on it.
 * S2. `stop` and `terminate` cancel the scope of the step that runs; the loop settles the rest.
 */
import { type CancellationScope, log, patched, uuid4, workflowInfo } from '@temporalio/workflow';
import type { IncomingItem, Parsed, Refusal } from '../core/item.ts';
import { LIMITS } from '../core/limit.ts';
import { ThreadQueue } from '../core/queue.ts';
import { NO_STEPS, type Session, type SideSteps } from '../core/session.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { StartInput } from '../core/start-input.ts';
import type { Settings, StoredError, ThreadStatus } from '../core/step.ts';
import { EffectAlarm } from './effect-alarm.ts';
import { FamilyWatch } from './family-watch.ts';
import { Mailbox } from './mailbox.ts';
import { SIGNAL_NAMES } from './messages.ts';
import { refreshDetails } from './presence.ts';

export class ThreadRun {
  readonly start: StartInput;
  readonly queue: ThreadQueue;
  readonly effects = new EffectAlarm();
  readonly family = new FamilyWatch();
  readonly mailbox = new Mailbox(() => refreshDetails(this));
  agent: string;
  storeId: string | undefined;
  settings: Settings | undefined;
  status: ThreadStatus;
  /** The model that is asked, or answered last. */
  model = '';
  /** In words, for people. */
  activity = 'opening';
  lastError: StoredError | null = null;
  /** Why the last execution ended. */
  stopReason: string | null;
  /** Of an agent with two AI sides. */
  session: Session | undefined;
  opened = false;
  /** The store says that this thread is over, or has just been told so. */
  dead = false;
  /** A relative has spoken, perhaps before the store was asked where the thread stands. */
  spokenTo = false;
  parked: boolean;
  turnOpen: boolean;
  executionId: string | null;
  /** Model steps of this execution. */
  steps: number;
  /** Of them those of each side. */
  sideSteps: SideSteps;
  totalSteps: number;
  afterStep: number;
  stopRequest: { reason?: string } | undefined;
  terminateRequest: { reason?: string } | undefined;
  scope: CancellationScope | undefined;
  /** Items in line, as others have said since the loop had them counted last. */
  #announced = 0;
  #ordinal = 0;
  #rejections: Refusal[];
  /** In this run, for the log. */
  #rejected = 0;
  /** Signals of names that a thread does not know, in this run. */
  #unknown = 0;

  constructor(start: StartInput) {
    const { carried } = start;
    this.start = start;
    this.queue = new ThreadQueue(workflowInfo().firstExecutionRunId, carried ?? undefined);
    this.agent = carried?.agent ?? start.agent;
    this.storeId = carried?.storeId;
    this.status = (carried?.status as ThreadStatus | undefined) ?? 'idle';
    this.parked = carried?.parked ?? false;
    this.turnOpen = carried?.turnOpen ?? false;
    this.executionId = carried?.executionId ?? null;
    this.steps = carried?.steps ?? 0;
    this.sideSteps = carried?.sideSteps ?? NO_STEPS;
    this.session = carried?.session ?? undefined;
    this.stopReason = carried?.stopReason ?? null;
    this.totalSteps = carried?.totalSteps ?? 0;
    this.afterStep = carried?.afterStep ?? 0;
    this.#rejections = [...(carried?.rejections ?? [])];
    if (!carried) for (const message of start.messages) this.accept(message);
  }

  get threadId(): string {
    return this.start.threadId;
  }

  get ending(): boolean {
    return this.dead || this.terminateRequest !== undefined;
  }

  /** Something for the loop to do. */
  get hasWork(): boolean {
    return this.turnOpen || (!this.parked && this.queue.size > 0);
  }

  get wanted(): boolean {
    return this.ending || this.stopRequest !== undefined || this.hasWork || this.#rejections.length > 0;
  }

  accept(item: IncomingItem): { id: string } {
    const { id, duplicate } = this.queue.accept(item);
    // Work queued after a stop stays parked until a person speaks again (runtime §2, decisions: stop).
    if (!duplicate && item.kind !== 'tool' && item.role === 'user') this.parked = false;
    return { id };
  }

  /** A relative has said something to the thread: as good as a person's word. */
  unpark(): void {
    this.parked = false;
    this.spokenTo = true;
  }

  /** For signals, which cannot answer: what is refused is logged and becomes an event. */
  acceptOrDrop(parsed: Parsed<IncomingItem>): void {
    if (!parsed.ok) this.reject(parsed.refusal);
    else if (this.ending)
      this.reject({ code: 'ThreadTerminated', reason: 'the thread is terminated', id: parsed.value.id });
    else this.accept(parsed.value);
  }

  /** The log hears of the first few, and then of every tenth, hundredth and so on: a flood of them is one line. */
  reject(refusal: Refusal): void {
    this.#rejected += 1;
    if (isTold(this.#rejected)) {
      const count = this.#rejected > TOLD_SINGLY ? ` (so far ${this.#rejected} in this run)` : '';
      log.warn(`dropped an item of thread ${this.threadId}: ${refusal.reason}${count}`, { ...refusal });
    }
    if (this.#rejections.length < LIMITS.rejections) this.#rejections.push(refusal);
  }

  /** A signal whose name says nothing to a thread: the first of a run is told of, all are forgotten. */
  forget(name: string): void {
    this.#unknown += 1;
    if (this.#unknown > 1 || !patched('tells-of-unknown-signals')) return;
    const known = SIGNAL_NAMES.join(', ');
    this.reject({
      code: 'InvalidMessage',
      reason: `there is no signal ${JSON.stringify(name)}; a thread knows ${known}`,
    });
  }

  takeRejections(): readonly Refusal[] {
    return this.#rejections.splice(0);
  }

  requestStop(request: { reason?: string }): void {
    if (this.ending) return;
    this.stopRequest = request;
    this.parked = true;
    this.scope?.cancel();
  }

  requestTerminate(request: { reason?: string }): void {
    this.terminateRequest ??= request;
    this.scope?.cancel();
    this.effects.cancel();
  }

  /** The store was seen with so many pending rows, by somebody else. */
  announce(waiting: number): void {
    this.queue.announce(waiting);
    this.#announced = Math.max(this.#announced, waiting);
  }

  /** Before the store counts what waits. */
  beginCount(): void {
    this.#announced = 0;
  }

  /** What was announced meanwhile may have come too late to be counted. */
  endCount(waiting: number): void {
    this.queue.recount(waiting);
    this.queue.announce(this.#announced);
  }

  nextOrdinal(): number {
    return this.#ordinal++;
  }

  currentExecution(): string {
    this.executionId ??= uuid4();
    return this.executionId;
  }

  endTurn(): void {
    this.turnOpen = false;
    this.executionId = null;
    this.steps = 0;
    this.sideSteps = NO_STEPS;
  }

  get ref(): { threadId: string; storeId: string } {
    return { threadId: this.threadId, storeId: this.storeId ?? '' };
  }

  toSnapshot(settings: Settings): Snapshot {
    return {
      version: 2,
      ...this.queue.toState(),
      afterStep: this.afterStep,
      turnOpen: this.turnOpen,
      parked: this.parked,
      executionId: this.executionId,
      steps: this.steps,
      totalSteps: this.totalSteps,
      rejections: this.#rejections,
      settings,
      storeId: this.storeId ?? '',
      agent: this.agent,
      status: this.status,
      session: this.session ?? null,
      sideSteps: this.sideSteps,
      stopReason: this.stopReason,
    };
  }
}

const TOLD_SINGLY = 5;

function isTold(count: number): boolean {
  return count <= TOLD_SINGLY || /^10+$/.test(String(count));
}
