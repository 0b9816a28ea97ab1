/**
 * What people can see of a thread: status query, current details, search attributes. Details are set again in every
 * run, because they do not survive continue-as-new.
 */
import { defineSearchAttributeKey } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
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

export class Presence {
  readonly #run: ShownRun;
  #agent: string;
  #status: ThreadStatus;
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

  /** Summary of the activity that asks for the next step. `behind`: it may go on into the step after that. */
  nameStep(behind = false): string {
    const step = this.#run.turn.totalSteps + 1;
    return `step ${step}${behind ? ` (+${step + 1})` : ''} · ${this.#model || this.#agent}`;
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

  /** Sets all search attributes if nothing was carried over; the server keeps them through continue-as-new. */
  announce(): void {
    const { parentId, rootId, carried } = this.#run.start;
    if (carried === null && this.#hasAttributes) {
      upsertSearchAttributes([
        { key: THREAD_STATUS, value: this.#status },
        { key: AGENT_ID, value: this.#agent },
        { key: ROOT_THREAD_ID, value: rootId },
        ...(parentId === null ? [] : [{ key: PARENT_THREAD_ID, value: parentId }]),
      ]);
    }
    this.refresh();
  }

  /** Shows the status. Adds one event to history if the status changes, otherwise none. */
  showStatus(status: ThreadStatus): void {
    if (this.#status === status) return;
    this.#status = status;
    if (this.#hasAttributes) upsertSearchAttributes([{ key: THREAD_STATUS, value: status }]);
  }

  showActivity(activity: string): void {
    this.#activity = activity;
    this.refresh();
  }

  /** Shows the agent after a handoff. Adds one event to history. */
  showAgent(agent: string): void {
    this.#agent = agent;
    if (this.#hasAttributes) upsertSearchAttributes([{ key: AGENT_ID, value: agent }]);
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
