/**
 * Collects the parts of an AI SDK answer, whole or streamed, for the provider port (core/message/answer-parts.ts).
 * - A part has the metadata that its start, its deltas and its end bring, empty deltas included: Anthropic's signature
 *   has no text, and OpenAI's encrypted reasoning is complete at the end.
 * - Ids of items that the provider may keep are left out, since the AI SDK would send references to items instead of
 *   the items. Reasoning keeps its id, by which the SDK joins the parts of one item (ai-sdk-assistant.ts, T2).
 */
import { type AnswerPart, type AnswerParts, saysMore } from '../core/message/answer-parts.ts';
import { isRecord } from '../core/value/record.ts';
import type { AiSdkLanguageModel, AiSdkPart } from './ai-sdk-model.ts';

type Metadata = NonNullable<AnswerPart['metadata']>;

export interface PartCollector {
  add(part: AiSdkPart): void;
  /** Undefined if the answer's message says as much. */
  parts(): AnswerParts | undefined;
}

/** The provider and the model that parts go back to. */
export function originOf({ provider, modelId }: AiSdkLanguageModel): string {
  return `${provider}:${modelId}`;
}

/** A part that may get more. */
interface Draft {
  readonly type: AnswerPart['type'];
  readonly id?: string;
  readonly value?: Readonly<Record<string, unknown>>;
  text?: string;
  metadata?: Metadata | undefined;
}

export function collectParts(origin: string): PartCollector {
  const list: Draft[] = [];
  // Texts and reasoning that have begun, and metadata of calls that have, by the id of the part.
  const texts = new Map<string, Draft>();
  const inputs = new Map<string, Metadata | undefined>();

  function addText(
    type: 'text' | 'reasoning',
    { id = '', delta = '', text = delta, ...part }: AiSdkPart,
  ): void {
    const key = `${type} ${id}`;
    const isWhole = part.type === type;
    const known = isWhole || part.type.endsWith('-start') ? undefined : texts.get(key);
    const draft: Draft = known ?? { type };
    if (!known) list.push(draft);
    texts.set(key, draft);
    draft.text = `${draft.text ?? ''}${text}`;
    draft.metadata = joinMetadata(draft.metadata, part.providerMetadata);
  }

  function add(part: AiSdkPart): void {
    const { type, id = '', toolCallId = '', providerMetadata } = part;
    if (/^text(-|$)/.test(type)) addText('text', part);
    else if (/^reasoning(-start|-delta|-end|$)/.test(type)) addText('reasoning', part);
    else if (type.startsWith('tool-input-')) inputs.set(id, joinMetadata(inputs.get(id), providerMetadata));
    else if (type === 'tool-call' && !part.providerExecuted)
      list.push({
        type: 'call',
        id: toolCallId,
        metadata: joinMetadata(inputs.get(toolCallId), providerMetadata),
      });
    else if (OTHERS.has(type) && !isPassing(part))
      list.push({ type: 'other', value: toValue(part), metadata: providerMetadata });
  }

  function parts(): AnswerParts | undefined {
    const all = { origin, list: list.map(toPart).filter(isSomething) };
    return saysMore(all) ? all : undefined;
  }

  return { add, parts };
}

const OTHERS: ReadonlySet<string> = new Set([
  ...['tool-call', 'tool-result', 'file', 'reasoning-file', 'source', 'custom'],
]);

/** True for a result that another one replaces, and for notes on the stream, which is no part of the answer. */
function isPassing({ preliminary, kind }: AiSdkPart): boolean {
  return preliminary === true || kind === 'anthropic.message_start';
}

/** The later of two values wins, unless it is null: a part that begins has not all of its metadata yet. */
function joinMetadata(before: Metadata | undefined, more: Metadata | undefined): Metadata | undefined {
  if (!before || !more) return more ?? before;
  const keys = [...new Set([...Object.keys(before), ...Object.keys(more)])];
  return Object.fromEntries(keys.map((key) => [key, { ...ownOf(before[key]), ...ownOf(more[key]) }]));
}

/** The metadata of one provider, without what is null. */
function ownOf(value: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(isRecord(value) ? value : {}).filter(([, each]) => each != null));
}

/** Without ids of items. */
function toPart({ metadata: given, ...part }: Draft): AnswerPart {
  const keepsId = part.type === 'reasoning' || part.value?.type === 'custom';
  const own = Object.entries(given ?? {}).map(([key, value]) => {
    const { itemId, ...rest } = ownOf(value);
    return [key, keepsId && itemId !== undefined ? { ...rest, itemId } : rest] as const;
  });
  const metadata = Object.fromEntries(own.filter(([, value]) => Object.keys(value).length > 0));
  return (Object.keys(metadata).length > 0 ? { ...part, metadata } : part) as AnswerPart;
}

function isSomething(part: AnswerPart): boolean {
  return part.type !== 'text' || part.text !== '' || part.metadata !== undefined;
}

/** The part itself, as JSON: bytes as base64. */
function toValue({ id: _, providerMetadata: _metadata, ...part }: AiSdkPart): Record<string, unknown> {
  const { data, ...rest } = part as AiSdkPart & { data?: unknown };
  if (data === undefined) return rest;
  return { ...rest, data: isRecord(data) && 'data' in data ? toBase64(data.data) : toBase64(data) };
}

function toBase64(data: unknown): unknown {
  return data instanceof Uint8Array ? Buffer.from(data).toString('base64') : data;
}
