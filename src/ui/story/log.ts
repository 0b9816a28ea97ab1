/**
 * The rows of a thread's log as items of a story, in the order of the log.
 * - Rows are added in order; a row that was added before changes nothing. Pieces of answers only add to the text of their
 *   request, and those of one request are added in order.
 * - A log may be read from its middle on: a row about something that began earlier makes an item of what it tells.
 */
import type { EventData, EventKind, ThreadEvent } from '../../core/event/thread-event.ts';

/** One request to a model. `id` as in the routes of model calls: step, attempt, number in the attempt. */
export interface ModelCall {
  readonly id: string;
  readonly model: string;
  readonly at: number;
  readonly purpose: string | null;
  firstAt: number | null;
  endedAt: number | null;
  usage: EventData['model.answered']['usage'];
  cost: number | null;
  failure: string | null;
}

interface Placed {
  readonly key: string;
  readonly seq: number;
  readonly at: number;
  /** Above 0 for what happens within a sub-prompt. */
  readonly depth: number;
}

export interface MessageItem extends Placed {
  readonly kind: 'message';
  readonly messageId: string;
  readonly role: string;
  deleted: boolean;
}

export interface StepItem extends Placed {
  readonly kind: 'step';
  readonly step: number;
  readonly prompt: string | null;
  readonly side: string | null;
  readonly queuedMs: number | null;
  readonly calls: ModelCall[];
  attempt: number;
  state: 'running' | 'done' | 'failed' | 'stopped';
  endedAt: number | null;
  messageId: string | null;
  error: string | null;
  /** Milliseconds until a model that refuses is asked again. */
  heldMs: number | null;
}

export type ToolState =
  | 'called'
  | 'running'
  | 'waiting'
  | 'success'
  | 'error'
  | 'unknown'
  | 'refused'
  | 'removed';

export interface ToolItem extends Placed {
  readonly kind: 'tool';
  readonly step: number;
  readonly callId: string;
  readonly name: string;
  state: ToolState;
  queuedMs: number | null;
  startedAt: number | null;
  endedAt: number | null;
  /** The message with its result. */
  resultId: string | null;
  /** The subagent that it has created. */
  child: { readonly id: string; readonly title: string } | null;
  /** When it began to wait for a person. */
  waitedAt: number | null;
  waitedMicros: number;
}

export interface DiscardedItem extends Placed {
  readonly kind: 'discarded';
  readonly callId: string;
}

export interface ChildItem extends Placed {
  readonly kind: 'child';
  readonly childId: string;
  readonly agent: string;
  readonly name: string | null;
}

export type LogItem = MessageItem | StepItem | ToolItem | DiscardedItem | ChildItem;

/** The text of a request to a model, as far as it has been streamed. */
export interface StreamedText {
  text: string;
  reasoning: string;
  /** Arguments of calls, by call. */
  readonly inputs: Map<string, string>;
  /** Number of the last piece. */
  last: number;
}

export class StoryLog {
  items: LogItem[] = [];
  rows: ThreadEvent[] = [];
  /** By id of the request. Pieces are removed ten minutes after their execution: these are the ones that were seen. */
  readonly texts = new Map<string, StreamedText>();
  readonly children = new Set<string>();
  #steps = new Map<number, StepItem>();
  #tools = new Map<string, ToolItem>();
  #firstPieces = new Map<string, number>();
  #lastToolMessage: string | null = null;

  get lastSeq(): number {
    return this.rows.at(-1)?.seq ?? 0;
  }

  /** The step that runs now, if there is one. */
  get runningStep(): StepItem | undefined {
    const last = this.items.findLast((item) => item.kind === 'step');
    return last?.kind === 'step' && last.state === 'running' ? last : undefined;
  }

  /** Returns false if the row had been added before. */
  add(row: ThreadEvent): boolean {
    if (row.type === 'model.chunk') return this.#addPiece(row);
    if (row.seq <= this.lastSeq) return false;
    this.rows.push(row);
    this.#fold(row);
    return true;
  }

  /** Adds rows in front of the first one. */
  prepend(earlier: readonly ThreadEvent[]): void {
    const rows = [...earlier.filter(({ type }) => type !== 'model.chunk'), ...this.rows];
    const later = [...this.texts];
    [this.items, this.rows] = [[], []];
    this.#steps.clear();
    this.#tools.clear();
    this.texts.clear();
    this.children.clear();
    for (const row of rows) this.add(row);
    for (const row of earlier) if (row.type === 'model.chunk') this.#addPiece(row);
    for (const [id, text] of later) this.texts.set(id, join(this.texts.get(id), text));
  }

  step(number: number): StepItem | undefined {
    return this.#steps.get(number);
  }

  /** The text that a running step has streamed so far. */
  textOf(step: StepItem): StreamedText | undefined {
    const call = step.calls.at(-1);
    return call && this.texts.get(call.id);
  }

  /** `id`: of the request that began to be answered then. */
  noteFirstToken(id: string, at: number): void {
    this.#firstPieces.set(id, at);
    const step = this.#steps.get(Number.parseInt(id, 10));
    const call = step?.calls.find((each) => each.id === id);
    if (call) call.firstAt = at;
  }

  #addPiece(row: ThreadEvent & { readonly type: 'model.chunk' }): boolean {
    const { delta, reasoning = '', call, input } = row.data;
    const id = callIdOf(row, call);
    const text = this.texts.get(id) ?? { text: '', reasoning: '', inputs: new Map(), last: 0 };
    if (row.seq <= text.last) return false;
    this.texts.set(id, text);
    text.text += delta;
    text.reasoning += reasoning;
    text.last = row.seq;
    if (input) text.inputs.set(input.name, (text.inputs.get(input.name) ?? '') + input.delta);
    if (!this.#firstPieces.has(id)) this.noteFirstToken(id, row.at);
    return true;
  }

  #fold(row: ThreadEvent): void {
    switch (row.type) {
      case 'message.created':
        if (row.data.role === 'tool') this.#lastToolMessage = row.data.messageId;
        else
          this.items.push({
            kind: 'message',
            ...placeOf(row),
            messageId: row.data.messageId,
            role: row.data.role,
            deleted: false,
          });
        return;
      case 'message.deleted': {
        const { messageId } = row.data;
        const found = this.items.find((item) => item.kind === 'message' && item.messageId === messageId);
        if (found?.kind === 'message') found.deleted = true;
        return;
      }
      case 'messages.superseded': {
        const { from, to } = row.data;
        this.items = this.items.filter(({ seq }) => seq < from || seq > to);
        return;
      }
      case 'step.started':
        this.#beginStep(row);
        return;
      case 'step.retried':
        this.#stepOf(row).attempt = row.attempt ?? this.#stepOf(row).attempt;
        return;
      case 'step.committed':
        this.#endStep(row, 'done').messageId = row.data.messageId;
        return;
      case 'output.rejected':
        this.#endStep(row, 'failed').error = row.data.problems;
        return;
      case 'step.failed':
        this.#endStep(row, 'failed').error = `${row.data.code}: ${row.data.message}`;
        return;
      case 'execution.aborted':
        this.#endStep(row, 'stopped');
        return;
      case 'execution.ended':
        for (const step of this.#steps.values())
          if (step.state === 'running') Object.assign(step, { state: 'stopped', endedAt: row.at });
        return;
      case 'model.called':
      case 'model.answered':
      case 'model.failed':
      case 'model.held':
        this.#foldModel(row);
        return;
      case 'attempt.discarded': {
        const callId = callIdOf({ step: row.step, attempt: row.data.attempt }, row.data.call);
        if (row.data.reason === 'Removed') this.texts.delete(callId);
        else this.items.push({ kind: 'discarded', ...placeOf(row), callId });
        return;
      }
      case 'subagent.created':
        this.#addChild(row);
        return;
      default:
        this.#foldTool(row);
    }
  }

  #beginStep(row: ThreadEvent & { readonly type: 'step.started' }): StepItem {
    const { prompt = null, side = null, queuedMs = null } = row.data;
    return this.#pushStep(row, { prompt, side, queuedMs });
  }

  #pushStep(row: ThreadEvent, known: Partial<StepItem> = {}): StepItem {
    const step: StepItem = {
      kind: 'step',
      ...placeOf(row),
      step: row.step ?? 0,
      prompt: null,
      side: null,
      queuedMs: null,
      calls: [],
      attempt: row.attempt ?? 1,
      state: 'running',
      endedAt: null,
      messageId: null,
      error: null,
      heldMs: null,
      ...known,
    };
    this.#steps.set(step.step, step);
    this.items.push(step);
    return step;
  }

  #stepOf(row: ThreadEvent): StepItem {
    return this.#steps.get(row.step ?? 0) ?? this.#pushStep(row);
  }

  #endStep(row: ThreadEvent, state: StepItem['state']): StepItem {
    return Object.assign(this.#stepOf(row), { state, endedAt: row.at, heldMs: null });
  }

  #foldModel(row: Extract<ThreadEvent, { readonly type: `model.${string}` }>): void {
    const step = this.#stepOf(row);
    if (row.type === 'model.held') {
      step.heldMs = row.data.retryInMs;
      return;
    }
    if (row.type === 'model.called') {
      const { model, call, purpose = null } = row.data;
      const id = callIdOf(row, call);
      step.heldMs = null;
      step.attempt = row.attempt ?? step.attempt;
      step.calls.push({
        id,
        model,
        at: row.at,
        purpose,
        firstAt: this.#firstPieces.get(id) ?? null,
        endedAt: null,
        usage: null,
        cost: null,
        failure: null,
      });
      return;
    }
    if (row.type !== 'model.answered' && row.type !== 'model.failed') return;
    const id = callIdOf(row, row.data.call);
    const call = step.calls.find((each) => each.id === id);
    if (!call) return;
    call.endedAt = row.at;
    if (row.type === 'model.answered') Object.assign(call, { usage: row.data.usage, cost: row.data.cost });
    else call.failure = row.data.code ?? 'failed';
  }

  #foldTool(row: ThreadEvent): void {
    const callId = (row.data as { readonly callId?: string }).callId;
    if (callId === undefined) return;
    if (row.type === 'tool.called') {
      this.#pushTool(row, callId, row.data.name);
      return;
    }
    const tool = this.#tools.get(callId);
    switch (row.type) {
      case 'tool.started': {
        const found = tool ?? this.#pushTool(row, callId, row.data.name);
        found.state = 'running';
        found.startedAt ??= row.at;
        found.queuedMs = row.data.queuedMs ?? null;
        return;
      }
      case 'tool.result':
      case 'tool.unknown': {
        const found = tool ?? this.#pushTool(row, callId, row.data.name);
        found.resultId = this.#lastToolMessage;
        found.endedAt = row.at;
        if (row.type === 'tool.unknown') found.state = 'unknown';
        else found.state = row.data.refused ? 'refused' : row.data.status;
        return;
      }
      case 'tool.removed':
        if (tool) tool.state = 'removed';
        return;
      case 'wait.opened':
        if (tool) Object.assign(tool, { state: 'waiting', waitedAt: row.at });
        return;
      case 'wait.answered':
      case 'wait.closed':
        if (!tool || tool.waitedAt === null) return;
        tool.waitedMicros += row.at - tool.waitedAt;
        tool.waitedAt = null;
        if (tool.state === 'waiting') tool.state = 'called';
        return;
    }
  }

  #pushTool(row: ThreadEvent, callId: string, name: string): ToolItem {
    const tool: ToolItem = {
      kind: 'tool',
      ...placeOf(row),
      step: row.step ?? 0,
      callId,
      name,
      state: 'called',
      queuedMs: null,
      startedAt: null,
      endedAt: null,
      resultId: null,
      child: null,
      waitedAt: null,
      waitedMicros: 0,
    };
    this.#tools.set(callId, tool);
    this.items.push(tool);
    return tool;
  }

  /** A child that a call has created stands below that call. */
  #addChild(row: ThreadEvent & { readonly type: 'subagent.created' }): void {
    const { childId, agent, name, callId } = row.data;
    this.children.add(childId);
    const tool = callId === undefined ? undefined : this.#tools.get(callId);
    if (tool && tool.child === null) tool.child = { id: childId, title: name ?? agent };
    else this.items.push({ kind: 'child', ...placeOf(row), childId, agent, name });
  }
}

/** The text of a request whose pieces were read in two parts. */
function join(early: StreamedText | undefined, later: StreamedText): StreamedText {
  if (!early) return later;
  const inputs = new Map(early.inputs);
  for (const [name, given] of later.inputs) inputs.set(name, (inputs.get(name) ?? '') + given);
  const [text, reasoning] = [early.text + later.text, early.reasoning + later.reasoning];
  return { text, reasoning, inputs, last: later.last };
}

/** Kinds of rows whose pieces are removed from the log; a history is read without them. */
export const PIECES = 'model.chunk' satisfies EventKind;

function placeOf(row: ThreadEvent): Placed {
  return {
    key: String(row.seq),
    seq: row.seq,
    at: row.at,
    depth: (row.data as { readonly depth?: number }).depth ?? 0,
  };
}

function callIdOf({ step, attempt }: Pick<ThreadEvent, 'step' | 'attempt'>, call: number): string {
  return `${step ?? 0}.${attempt ?? 1}.${call}`;
}
