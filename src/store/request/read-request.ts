/**
 * Reads model calls and their requests. A request is made of what its call's row names (request-chain.ts): texts that it
 * shares with other requests, and the thread's messages as they are now. Where a message is not what was sent any more,
 * the request has a gap.
 */
import type { Kysely, Transaction } from 'kysely';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { groupBy } from '../../core/value/group-by.ts';
import { toUsd } from '../../core/value/money.ts';
import { toContextMessage, toCount } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inSnapshot } from '../transaction/context.ts';
import { isSummary, selectModelCalls } from '../transaction/log.ts';
import { type Row, readInBatches, selectRows } from '../transaction/rows.ts';
import type { ChainPart, Entry, LikeText, OwnMessage, RequestPart } from './request-chain.ts';
import type {
  GapReason,
  ListModelCalls,
  ModelCallKind,
  ModelCallRecord,
  RequestChange,
  RequestGap,
  RequestState,
  ShownRequest,
} from './request-record.ts';
import { idOfCall, openRows, parse, parseCallId, positionsOf, type RequestRows } from './request-row.ts';
import { composeMessage, digestOf, type Form, hasOwnText, roleOfForm } from './shown-message.ts';

/**
 * By step, attempt and number; the requests for a summary, which come first in their step, have numbers above 1,000.
 * Rejects with `InvalidValue` if `after` is no id of a call.
 */
export async function listModelCalls(
  { db }: CommandContext,
  threadId: string,
  { after, order = 'asc', limit }: ListModelCalls = {},
): Promise<ModelCallRecord[]> {
  const passes = order === 'asc' ? '>' : '<';
  let calls = selectShown(db, threadId);
  if (after !== undefined) {
    const { step, attempt, call } = requireCallId(after);
    calls = calls.where((eb) =>
      eb.or([
        eb('model_calls.step', passes, step),
        eb.and([eb('model_calls.step', '=', step), eb('model_calls.attempt', passes, attempt)]),
        eb.and([
          eb('model_calls.step', '=', step),
          eb('model_calls.attempt', '=', attempt),
          eb('model_calls.call', passes, call),
        ]),
      ]),
    );
  }
  const rows = await calls
    .orderBy('model_calls.step', order)
    .orderBy('model_calls.attempt', order)
    .orderBy('model_calls.call', order)
    .limit(toCount(limit, 100))
    .execute();
  return rows.map(toRecord);
}

function selectShown(db: Kysely<Tables>, threadId: string) {
  return selectModelCalls(db, threadId).selectAll('model_calls').select(['steps.kind', 'steps.side']);
}

function requireCallId(id: string) {
  const parsed = parseCallId(id);
  if (parsed) return parsed;
  throw new RuntimeError(
    'InvalidValue',
    `"${id}" is no id of a model call: write STEP.ATTEMPT.CALL, such as 4.1.1.`,
  );
}

type CallRow = Row<'model_calls'> & Pick<Row<'steps'>, 'kind' | 'side'>;

function toRecord(row: CallRow): ModelCallRecord {
  const { step, attempt, call } = row;
  const request = parse<RequestPart>(row.request);
  const chain = parse<ChainPart>(row.chain);
  return {
    id: idOfCall(row),
    step,
    attempt,
    call,
    kind: kindOf(row),
    side: row.side,
    prompt: chain?.chain.split(':')[1] ?? null,
    messages: request?.count ?? null,
    bytes: request?.bytes ?? null,
    provider: request?.provider ?? null,
    model: row.model,
    modelId: row.model_id,
    status: row.state,
    startedAt: row.started_at,
    firstTokenAt: row.first_token_at,
    endedAt: row.ended_at,
    usage: parse(row.usage) ?? null,
    cost: row.cost_pico === null ? null : toUsd(row.cost_pico),
    error: parse(row.error) ?? null,
    request: stateOf(row),
  };
}

function kindOf({ kind, call }: Pick<CallRow, 'kind' | 'call'>): ModelCallKind {
  if (kind === 'tools' || kind === 'immediate') return 'bootstrap';
  if (isSummary({ kind, call })) return 'summary';
  return kind === 'prompt' ? 'sub_prompt' : 'step';
}

function stateOf({ request, chain, state }: Pick<CallRow, 'request' | 'chain' | 'state'>): RequestState {
  if (request !== null) return 'kept';
  if (chain !== null) return 'removed';
  return state === 'started' ? 'open' : state === 'lost' ? 'lost' : 'off';
}

/**
 * The request of a call. Rejects with `ModelCallNotFound`; with `RequestRemoved` if the call has none, or has it no
 * longer.
 */
export async function readRequest(
  context: CommandContext,
  threadId: string,
  id: string,
): Promise<ShownRequest> {
  return inSnapshot(context, async (db) => {
    const place = parseCallId(id);
    const [row] = place
      ? await selectShown(db, threadId)
          .where('model_calls.step', '=', place.step)
          .where('model_calls.attempt', '=', place.attempt)
          .where('model_calls.call', '=', place.call)
          .execute()
      : [];
    if (!row)
      throw new RuntimeError(
        'ModelCallNotFound',
        `Thread "${threadId}" has no model call "${id}": its calls and their ids are listed by "threads request ${threadId}".`,
      );
    const request = parse<RequestPart>(row.request);
    const chain = parse<ChainPart>(row.chain);
    if (!request || !chain) throw notKept(threadId, id, stateOf(row));
    const rows = openRows(db, threadId);
    const asked = await readAsked(rows, id, request);
    const base = chain.base === undefined ? undefined : (await rows.read(chain.base))?.request;
    const before = chain.base === undefined || !base ? undefined : await readAsked(rows, chain.base, base);
    const { messages, gaps } = await composeMessages(db, threadId, asked);
    const parts = await readParts(db, threadId, request);
    const own = new Set(request.own.filter(([, , , role]) => role === 's').map(([index]) => index));
    const bytesOf = (system: boolean) =>
      asked.reduce((sum, { bytes }, index) => (own.has(index) === system ? sum + bytes : sum), 0);
    const { model, maxOutputTokens } = request;
    const whole = { ...parts, model, maxOutputTokens, messages };
    return {
      id,
      request: JSON.parse(canonicalJson(whole)),
      gaps,
      sizes: {
        system: bytesOf(true),
        tools: request.tools?.[1] ?? 0,
        messages: bytesOf(false),
        options: request.options[1],
      },
      changedFrom: before ? (chain.base ?? null) : null,
      diff: before ? compare(before, asked) : [],
    };
  });
}

const WHY: Readonly<Record<Exclude<RequestState, 'kept'>, string>> = {
  open: 'the call has not ended: read it again when it has',
  lost: 'its worker was lost, or its thread terminated, before it ended: the next attempt at the step sent the same messages',
  removed: 'it was kept for the days that EVERTHREAD_REQUESTS says',
  off: 'EVERTHREAD_REQUESTS was "off" for its worker, or the call failed before its request was made',
};

function notKept(threadId: string, id: string, state: RequestState): RuntimeError {
  const why = state === 'kept' ? '' : WHY[state];
  return new RuntimeError(
    'RequestRemoved',
    `The request of model call ${id} of thread "${threadId}" is not kept: ${why}.`,
  );
}

/** A message of a request: of a stored message (`entry`), or of a text of its own. */
interface AskedMessage {
  /** The same for what shows the same in two requests. */
  readonly key: string;
  readonly digest: string;
  readonly bytes: number;
  readonly form: Form;
  /** Id of the stored message. */
  readonly messageId?: string;
  /** Set if its text is not stored as a whole. */
  readonly like?: LikeText | undefined;
}

async function readAsked(
  rows: RequestRows,
  id: string,
  { runs, own }: Pick<RequestPart, 'runs' | 'own'>,
): Promise<AskedMessage[]> {
  const entries = await rows.entriesOf(id, runs);
  const asked = positionsOf(runs).map((position) => fromEntry(entries.get(position) ?? NO_ENTRY));
  for (const each of own) asked.splice(each[0], 0, fromOwn(each));
  return asked;
}

/** A row of the chain is missing: shown as a gap, so that the other messages keep their places. */
const NO_ENTRY: Entry = [0, '', '', 0, 'u'];

function fromEntry([, messageId, digest, bytes, form]: Entry): AskedMessage {
  return { key: messageId, messageId, digest, bytes, form };
}

function fromOwn([index, digest, bytes, role, like]: OwnMessage): AskedMessage {
  const key = index === 0 && role === 's' ? ' prompt' : ` ${digest}`;
  return { key, digest, bytes, form: `x${role}`, like };
}

interface ComposedMessages {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly gaps: readonly RequestGap[];
}

async function composeMessages(
  db: Transaction<Tables>,
  threadId: string,
  asked: readonly AskedMessage[],
): Promise<ComposedMessages> {
  const isText = ({ form }: AskedMessage) => hasOwnText(form);
  const ids = asked.flatMap((each) =>
    each.messageId !== undefined && !isText(each) ? [each.messageId] : [],
  );
  // What a model was sent stays, also once that was superseded.
  const rows = await readInBatches([...new Set(ids)], async (batch) => [
    ...(await selectRows(db, 'messages', { thread_id: threadId, id: batch }).selectAll().execute()),
    ...(await selectRows(db, 'superseded_messages', { thread_id: threadId, id: batch })
      .selectAll()
      .execute()),
  ]);
  const stored = groupBy(rows.map(toContextMessage), ({ id }) => id);
  const texts = await readTexts(
    db,
    threadId,
    asked.filter(isText).flatMap(({ digest, like }) => (like ? [like[0], like[3]] : [digest])),
  );
  const gaps: RequestGap[] = [];
  const messages = asked.map((each, position) => {
    const gap = (reason: GapReason) => {
      gaps.push({ position, reason });
      return { role: roleOfForm(each.form), content: null };
    };
    if (isText(each)) {
      const found = composeText(each, texts);
      return found.text === undefined ? gap(found.gap) : JSON.parse(found.text);
    }
    const form = each.form as Parameters<typeof composeMessage>[0];
    const known = stored.get(each.messageId ?? '') ?? [];
    const shown = known.map((row) => composeMessage(form, row));
    const message = shown.find((one) => digestOf(JSON.stringify(one)) === each.digest);
    return message ?? gap(shown.length > 0 ? 'edited' : 'deleted');
  });
  return { messages, gaps };
}

type Texts = Awaited<ReturnType<typeof readTexts>>;

function composeText(
  { digest, like }: AskedMessage,
  texts: Texts,
): { readonly text: string } | { readonly text?: undefined; readonly gap: GapReason } {
  const [whole, between] = (like ? [like[0], like[3]] : [digest]).map((each) => texts.get(each));
  const lost = [whole, between].find((each) => each?.body === null);
  const body = whole?.body;
  if (lost || typeof body !== 'string') return { gap: lost?.gap ?? 'deleted' };
  if (!like) return { text: body };
  const [, before, after] = like;
  return { text: body.slice(0, before) + (between?.body ?? '') + body.slice(body.length - after) };
}

async function readTexts(db: Transaction<Tables>, threadId: string, digests: readonly string[]) {
  const rows = await readInBatches([...new Set(digests)], (batch) =>
    selectRows(db, 'request_texts', { thread_id: threadId, digest: batch })
      .select(['digest', 'body', 'gap'])
      .execute(),
  );
  return new Map(rows.map((row) => [row.digest, row]));
}

async function readParts(
  db: Transaction<Tables>,
  threadId: string,
  { tools, options }: Pick<RequestPart, 'tools' | 'options'>,
): Promise<Readonly<Record<string, unknown>>> {
  const digests = [options[0], ...(tools ? [tools[0]] : [])];
  const texts = await readTexts(db, threadId, digests);
  const read = (digest: string) => JSON.parse(texts.get(digest)?.body ?? 'null');
  return { ...read(options[0]), ...(tools ? { tools: read(tools[0]) } : {}) };
}

/** The order of what stays is the same in both. */
function compare(before: readonly AskedMessage[], after: readonly AskedMessage[]): RequestChange[] {
  const known = new Map(before.map(({ key, digest }) => [key, digest]));
  const kept = new Set(after.map(({ key }) => key));
  const removed = before.flatMap(({ key }, position): RequestChange[] =>
    kept.has(key) ? [] : [{ position, change: 'removed' }],
  );
  const others = after.flatMap(({ key, digest }, position): RequestChange[] => {
    const earlier = known.get(key);
    if (earlier === digest) return [];
    return [{ position, change: earlier === undefined ? 'added' : 'changed' }];
  });
  return [...removed, ...others];
}
