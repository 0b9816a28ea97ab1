/**
 * What people can see of a thread: status query, current details, search attributes. Details are set again in every
 * run, because they do not survive continue-as-new.
 * - The attribute `ThreadStatus` shows what lasts: `running` after a second, any other status at once. So a short turn
 *   costs no update. The status query and the store are always up to date.
 */
import { defineSearchAttributeKey } from '@temporalio/common';
import {
  CancellationScope,
  setCurrentDetails,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Settings } from '../core/thread/open-thread.ts';
import type { StartInput } from '../core/thread/start-input.ts';
import type { StepCalls, StoredError, ThreadStatus } from '../core/thread/step.ts';
import type { EffectAlarm } from './effect-alarm.ts';
import type { Inbox } from './inbox.ts';
import type { StatusView } from './messages.ts';
import type { Turn } from './turn.ts';
import type { WaitWatch } from './wait-watch.ts';

const THREAD_STATUS = defineSearchAttributeKey('ThreadStatus', 'KEYWORD');
const AGENT_ID = defineSearchAttributeKey('AgentId', 'KEYWORD');
const PARENT_THREAD_ID = defineSearchAttributeKey('ParentThreadId', 'KEYWORD');
const ROOT_THREAD_ID = defineSearchAttributeKey('RootThreadId', 'KEYWORD');

/** The search attributes of a thread. */
export function toAttributes({
  status,
  agent,
  parentId,
  rootId,
}: {
  readonly status: ThreadStatus;
  readonly agent: string;
  readonly parentId: string | null;
  readonly rootId: string;
}) {
  return [
    { key: THREAD_STATUS, value: status },
    { key: AGENT_ID, value: agent },
    { key: ROOT_THREAD_ID, value: rootId },
    ...(parentId === null ? [] : [{ key: PARENT_THREAD_ID, value: parentId }]),
  ];
}

/** What of a run is shown. */
interface ShownRun {
  readonly threadId: string;
  readonly start: Pick<StartInput, 'parentId' | 'rootId' | 'carried'>;
  readonly settings: Settings | undefined;
  readonly presence: Presence;
  readonly turn: Turn;
  readonly inbox: Inbox;
  readonly effects: EffectAlarm;
  readonly waits: WaitWatch;
  readonly wanted: boolean;
}

/** Milliseconds after which the attribute shows that the thread is running. */
const RUNNING_SHOWN_AFTER_MS = 1000;

export class Presence {
  readonly #run: ShownRun;
  #agent: string;
  #status: ThreadStatus;
  /** The attribute's value; undefined if an earlier run has set it. */
  #shown: ThreadStatus | undefined;
  /** Set while the thread runs and the attribute does not show it yet. */
  #untilShown: CancellationScope | undefined;
  /** Events that were added to history in the workflow task that began at this length. */
  #added = { at: -1, events: 0 };
  #model = '';
  #activity = 'opening';
  #called = '';

  constructor(run: ShownRun, { agent, status }: { readonly agent: string; readonly status: ThreadStatus }) {
    this.#run = run;
    this.#agent = agent;
    this.#status = status;
  }

  get agent(): string {
    return this.#agent;
  }

  get status(): ThreadStatus {
    return this.#status;
  }

  /** The model that is being asked, or answered last; empty if unknown. */
  get model(): string {
    return this.#model;
  }

  /** Summary of the activity that asks for the next step. `goesOn`: it may go on into the steps after that. */
  nameStep(goesOn: boolean): string {
    const step = this.#run.turn.totalSteps + 1;
    return `${goesOn ? `from step ${step}` : `step ${step}`} · ${this.#model || this.#agent}`;
  }

  /** What the thread is doing, as text for people. */
  get activity(): string {
    return this.#activity;
  }

  /** Names of what the last step has called. */
  get called(): string {
    return this.#called;
  }

  /** Takes agent and model from the store; `announce` shows them. */
  adopt({ agent, model }: { readonly agent: string; readonly model: string }): void {
    this.#agent = agent;
    this.#model = model;
  }

  /** Sets the status if nothing was carried over; `announce` shows it. */
  resume(status: ThreadStatus): void {
    this.#status = status;
  }

  /**
   * Sets all search attributes if nothing was carried over; the server keeps them through continue-as-new. Those with
   * which a parent has started the thread are set, and it is running as they say if it has work.
   */
  announce(): void {
    const { parentId, rootId, carried } = this.#run.start;
    if (carried === null && this.#hasAttributes) {
      const shown = workflowInfo().typedSearchAttributes.get(THREAD_STATUS);
      if (shown === 'running' && this.#run.wanted) this.#shown = shown;
      else {
        this.#shown = this.#status;
        this.#upsert(toAttributes({ status: this.#status, agent: this.#agent, parentId, rootId }));
      }
    }
    this.refresh();
  }

  /** Shows the status. Adds an event to history if the attribute changes, and for the timer until it does. */
  showStatus(status: ThreadStatus): void {
    if (this.#status === status) return;
    this.#status = status;
    if (!this.#hasAttributes) return;
    this.#stopWaiting();
    if (status === this.#shown) return;
    if (status === 'running') this.#showLater();
    else this.#showNow();
  }

  /** Shows at once what was to be shown later: the timer ends with the run, and the next one takes the value as shown. */
  showBeforeContinuing(): void {
    if (this.#stopWaiting()) this.#showNow();
  }

  /** True if the timer ran. */
  #stopWaiting(): boolean {
    if (!this.#untilShown) return false;
    this.#untilShown.cancel();
    this.#untilShown = undefined;
    this.#addEvent();
    return true;
  }

  #showNow(): void {
    this.#shown = this.#status;
    this.#upsert([{ key: THREAD_STATUS, value: this.#status }]);
  }

  #showLater(): void {
    const scope = new CancellationScope();
    this.#untilShown = scope;
    this.#addEvent();
    const wait = () =>
      sleep(RUNNING_SHOWN_AFTER_MS, { summary: 'until the status shows that it is running' });
    const forget = () => {
      const waited = this.#untilShown === scope;
      if (waited) this.#untilShown = undefined;
      return waited;
    };
    // Rejected if the status changes before.
    scope.run(wait).then(() => forget() && this.#showNow(), forget);
  }

  #upsert(attributes: Parameters<typeof upsertSearchAttributes>[0] & unknown[]): void {
    upsertSearchAttributes(attributes);
    this.#addEvent();
  }

  #addEvent(): void {
    const { historyLength: at } = workflowInfo();
    this.#added = { at, events: this.addedEvents + 1 };
  }

  /** Events that attributes and their timer have added to history in the current workflow task. */
  get addedEvents(): number {
    return this.#added.at === workflowInfo().historyLength ? this.#added.events : 0;
  }

  /** True if the attribute will soon show that the thread is running. */
  get isAboutToShow(): boolean {
    return this.#untilShown !== undefined;
  }

  showActivity(activity: string): void {
    this.#activity = activity;
    this.refresh();
  }

  /**
   * Shows that the next step is asked for. If its activity may go on, only its heartbeats tell what it does meanwhile:
   * which step it makes, or which short tool it runs.
   */
  showAsking(goesOn: boolean): void {
    const model = this.#model || 'the model';
    const from = this.#run.turn.totalSteps + 1;
    this.showActivity(
      goesOn ? `asking ${model}, or running short tools, from step ${from} on` : `asking ${model}`,
    );
  }

  /** Shows the agent after a handoff. Adds one event to history. */
  showAgent(agent: string): void {
    this.#agent = agent;
    if (this.#hasAttributes) this.#upsert([{ key: AGENT_ID, value: agent }]);
    this.refresh();
  }

  /** Sets the model; shown with the next activity. */
  showModel(model: string): void {
    this.#model = model;
  }

  /** Sets the called names; shown with the next activity. Calls run within the step's activity appear nowhere else. */
  showCalls({ callCount, calls }: StepCalls): void {
    const names = calls.map(({ name }) => name).join(', ');
    this.#called = callCount > calls.length ? `${names} and ${callCount - calls.length} more` : names;
  }

  /** Called after a change of anything in the details other than the activity. */
  refresh(): void {
    setCurrentDetails(toDetails(this.#run));
  }

  get #hasAttributes(): boolean {
    return this.#run.settings?.searchAttributes === true;
  }
}

export function toStatusView({ threadId, presence, turn, inbox, waits, wanted }: ShownRun): StatusView {
  return {
    threadId,
    agent: presence.agent,
    status: presence.status,
    step: turn.totalSteps,
    queued: inbox.queue.size,
    atRest: !wanted,
    activity: presence.activity,
    stopReason: turn.stopReason,
    side: turn.session?.side,
    lastError: turn.lastError,
    waits: waits.open.length > 0 ? waits.open : undefined,
  };
}

function toDetails({ threadId, presence, turn, inbox, effects, start }: ShownRun): string {
  const { agent, model, status, activity, called } = presence;
  const { lastError } = turn;
  const lines: [string, string][] = [
    ['now', activity],
    ['status', `${status}${describeFailure(status, lastError)}${describeWaiting(inbox)}`],
    ['agent', agent],
    ['model', model],
    ['step', String(turn.totalSteps)],
    ['called', called],
    ['queued', String(inbox.queue.size)],
    ['side', turn.session?.side ?? ''],
    ['stopped by', turn.stopReason ?? ''],
    ['next effect', effects.toText()],
    ['parent', start.parentId ?? ''],
    ['last error', lastError ? `${lastError.code}: ${lastError.message}` : ''],
  ];
  const list = lines
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `- **${name}:** ${escapeLine(value)}`);
  return `${list.join('\n')}\n\nRead it: \`everthread threads show ${threadId}\``;
}

/** The code of the failure, as in the summary of the last activity. */
function describeFailure(status: ThreadStatus, error: StoredError | null): string {
  return status === 'failed' && error ? `: ${error.code}` : '';
}

function describeWaiting({ parked, shelved, queue }: Inbox): string {
  if (parked) return '; queued work waits for a user message';
  return shelved && queue.size > 0
    ? '; a limit was reached, queued work waits for something from outside'
    : '';
}

/** Formats untrusted names and errors as plain text on one line of Markdown. */
function escapeLine(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_[\]<>#|]/g, '\\$&')
    .slice(0, 400);
}
