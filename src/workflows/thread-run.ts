/**
 * A thread's workflow in one run: the parts that hold its state, and what its handlers may ask of it.
 * S1. Handlers are synchronous and only change this state; the main loop alone acts on it.
 * S2. Each part is changed by its own methods. What concerns several of them is a method here.
 */
import { workflowInfo } from '@temporalio/workflow';
import { type Carried, fromSnapshot, nothingCarried, toSnapshot } from '../core/thread/carried.ts';
import type { IncomingItem, Parsed } from '../core/thread/item.ts';
import type { Settings } from '../core/thread/open-thread.ts';
import type { Snapshot } from '../core/thread/snapshot.ts';
import type { StartInput } from '../core/thread/start-input.ts';
import { BoundActivities } from './bound-activities.ts';
import { BudgetWatch } from './budget.ts';
import { EffectAlarm } from './effect-alarm.ts';
import { FamilyWatch } from './family-watch.ts';
import { Floor } from './floor.ts';
import { Inbox } from './inbox.ts';
import { Mailbox } from './mailbox.ts';
import { Presence } from './presence.ts';
import { Refusals } from './refusals.ts';
import { type EndRequest, Requests } from './requests.ts';
import { StepsAhead } from './step-ahead.ts';
import { Turn } from './turn.ts';
import { WaitWatch } from './wait-watch.ts';

/** A run is opened by the store's word on the thread. */
type Phase =
  | { readonly kind: 'opening' }
  | { readonly kind: 'open'; readonly settings: Settings }
  /** The store says that the thread is over, or has just been told so; without settings where it said so at once. */
  | { readonly kind: 'ended'; readonly settings?: Settings };

export class ThreadRun {
  readonly start: StartInput;
  readonly inbox: Inbox;
  readonly refusals: Refusals;
  readonly turn: Turn;
  readonly ahead = new StepsAhead();
  readonly requests = new Requests();
  readonly presence: Presence;
  readonly effects = new EffectAlarm();
  readonly floor = new Floor(() => this.hasWork);
  readonly family = new FamilyWatch();
  readonly waits = new WaitWatch();
  readonly budget = new BudgetWatch();
  readonly activities: BoundActivities;
  readonly mailbox = new Mailbox(() => this.presence.refresh());
  /** Hooks are to be told where the thread ends in the store alone. */
  tellsEnd = false;
  #phase: Phase = { kind: 'opening' };
  #ordinal = 0;

  constructor(start: StartInput) {
    const carried: Carried = start.carried ? fromSnapshot(start.carried) : nothingCarried(start.agent);
    this.start = start;
    this.inbox = new Inbox(workflowInfo().firstExecutionRunId, carried);
    this.refusals = new Refusals(start.threadId, carried.rejections);
    this.turn = new Turn(carried.turn);
    this.presence = new Presence(this, carried);
    this.activities = new BoundActivities(start.threadId, carried.storeId, this.effects);
    if (!start.carried) for (const message of start.messages) this.inbox.accept(message);
  }

  get threadId(): string {
    return this.start.threadId;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Known once the run has been opened. */
  get settings(): Settings | undefined {
    return this.#phase.kind === 'opening' ? undefined : this.#phase.settings;
  }

  get ended(): boolean {
    return this.#phase.kind === 'ended';
  }

  /** It has ended, or is about to. */
  get ending(): boolean {
    return this.ended || this.requests.terminate !== undefined;
  }

  /** Something for the loop to do. */
  get hasWork(): boolean {
    return this.turn.open || this.inbox.hasWork;
  }

  get wanted(): boolean {
    return (
      this.ending ||
      this.requests.stop !== undefined ||
      this.requests.canceled ||
      this.hasWork ||
      this.refusals.pending
    );
  }

  open(settings: Settings): void {
    this.#phase = { kind: 'open', settings };
  }

  end(): void {
    this.#phase = { kind: 'ended', settings: this.settings };
  }

  /** For signals, which cannot answer: what is refused is logged and becomes an event. */
  acceptOrDrop(parsed: Parsed<IncomingItem>): void {
    if (!parsed.ok) this.refusals.add(parsed.refusal);
    else if (this.ending) {
      const { id } = parsed.value;
      this.refusals.add({ code: 'ThreadTerminated', reason: 'the thread is terminated', id });
    } else this.inbox.accept(parsed.value);
  }

  /** What a step under way leaves to do goes on by itself. */
  goOnUnprompted(): void {
    if (!this.ending && !this.requests.stepGoesOn) this.inbox.goOnUnprompted();
  }

  requestStop(request: EndRequest): void {
    if (this.ending) return;
    this.inbox.park();
    this.requests.requestStop(request);
  }

  requestTerminate(request: EndRequest): void {
    this.requests.requestTerminate(request);
    this.effects.cancel();
  }

  /** Numbers what this run asks of the store: with the run's id, the key of a step. */
  nextOrdinal(): number {
    return this.#ordinal++;
  }

  toSnapshot(settings: Settings): Snapshot {
    const { agent, status } = this.presence;
    return toSnapshot(
      {
        queue: this.inbox.queue.toState(),
        parked: this.inbox.parked,
        rejections: this.refusals.state,
        turn: this.turn.state,
        agent,
        status,
        storeId: this.activities.storeId,
      },
      settings,
    );
  }
}
