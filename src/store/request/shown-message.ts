/**
 * The form in which a message of a request is kept. Its text is usually that of a stored message: then only what was
 * made of that is kept, beside a digest, so that no text is stored twice, and a later change of the message is noticed.
 * - What is no text (images, files, what a provider wants back with its answers) is shown as its digest and size.
 * - The keys of a shown message are in a fixed order, whether it was sent or is made again: its JSON text identifies it.
 *   Canonical JSON of each new message would take longer than all else that is done for a request.
 */
import { hash } from 'node:crypto';
import { type ContextMessage, parseCalls } from '../../core/context/context.ts';
import type { ContentPart, ProviderMessage } from '../../core/message/provider.ts';
import type { ProviderToolCall } from '../../core/message/provider-terms.ts';
import { toProviderCall } from '../../core/message/tool-call.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';

/** Stands for a value that is not kept. */
export interface Omitted {
  readonly digest: string;
  readonly bytes: number;
}

export type RoleLetter = 's' | 'u' | 'a' | 't';

/**
 * How a message is made again. A letter: its role, with the text and the calls of the stored message; `n`: an answer
 * without its calls. `x` and a letter: from a text of its own.
 */
export type Form = PlainForm | `x${RoleLetter}` | AnswerForm;

type PlainForm = 's' | 'u' | 'a' | 'n' | 't';

/** An answer with more than text and calls. */
interface AnswerForm {
  readonly of: 'a' | 'n';
  /** True if it has the stored reasoning. */
  readonly reasoning?: true;
  readonly reasoningDetails?: Omitted;
  readonly parts?: Omitted;
}

export interface ShownText {
  readonly text: string;
  readonly digest: string;
  /** Size of the message itself. */
  readonly bytes: number;
}

type Shown = Readonly<Record<string, unknown>>;

const ROLES = { system: 's', user: 'u', assistant: 'a', tool: 't' } as const;
const NAMES = { s: 'system', u: 'user', a: 'assistant', n: 'assistant', t: 'tool' } as const;

export function letterOf({ role }: ProviderMessage): RoleLetter {
  return ROLES[role];
}

/** True if the message is made from a text of its own. */
export function hasOwnText(form: Form): form is `x${RoleLetter}` {
  return typeof form === 'string' && form.startsWith('x');
}

export function roleOfForm(form: Form): string {
  if (typeof form !== 'string') return NAMES[form.of];
  return NAMES[(form.startsWith('x') ? form.slice(1) : form) as RoleLetter];
}

/** 132 bits of the SHA-256. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

export function showText(value: unknown, redact: (value: unknown) => unknown = unchanged): ShownText {
  const text = JSON.stringify(redact(value));
  return { text, digest: digestOf(text), bytes: Buffer.byteLength(text) };
}

const unchanged = (value: unknown) => value;

export function showMessage(message: ProviderMessage, redact?: (value: unknown) => unknown): ShownText {
  const { shown, omitted } = toShown(message);
  const text = showText(shown, redact);
  return { ...text, bytes: text.bytes + omitted };
}

/** The form of a message that shows a stored one, whose shown text is given. */
export function formOf(
  message: ProviderMessage,
  { text }: ShownText,
  stored: ContextMessage | undefined,
): Form {
  const own = `x${letterOf(message)}` as const;
  if (!stored) return own;
  const form = likelyForm(message);
  return JSON.stringify(composeMessage(form, stored)) === text ? form : own;
}

function likelyForm(message: ProviderMessage): Exclude<Form, `x${RoleLetter}`> {
  if (message.role !== 'assistant') return ROLES[message.role];
  const { reasoning, reasoningDetails, parts, toolCalls } = message;
  const of = toolCalls ? 'a' : 'n';
  if (reasoning === undefined && !reasoningDetails && !parts) return of;
  return {
    of,
    ...(reasoning === undefined ? {} : { reasoning: true }),
    ...(reasoningDetails ? { reasoningDetails: omit(reasoningDetails) } : {}),
    ...(parts ? { parts: omit(parts) } : {}),
  };
}

/** Makes the shown message again. */
export function composeMessage(form: Exclude<Form, `x${RoleLetter}`>, stored: ContextMessage): Shown {
  const {
    of,
    reasoning,
    reasoningDetails,
    parts,
  }: Partial<Omit<AnswerForm, 'of'>> & { readonly of: PlainForm } =
    typeof form === 'string' ? { of: form } : form;
  const content = stored.content ?? '';
  switch (of) {
    case 's':
    case 'u':
      return { role: NAMES[of], content };
    case 't': {
      const { tool_call_id: toolCallId, name: toolName } = stored;
      return { role: 'tool', toolCallId: toolCallId ?? '', toolName: toolName ?? '', content };
    }
    case 'a':
    case 'n':
      return {
        role: 'assistant',
        content: content.trim().length > 0 ? content : null,
        ...(of === 'a' ? { toolCalls: parseCalls(stored).map(toProviderCall).map(showCall) } : {}),
        ...(reasoning ? { reasoning: stored.reasoning } : {}),
        ...(reasoningDetails && { reasoningDetails }),
        ...(parts && { parts }),
      };
  }
}

function toShown(message: ProviderMessage): { readonly shown: Shown; readonly omitted: number } {
  let omitted = 0;
  const leaveOut = (value: unknown): Omitted => {
    const left = omit(value);
    omitted += left.bytes;
    return left;
  };
  const showPart = (part: ContentPart) =>
    'data' in part ? { ...part, data: leaveOut(part.data) } : withoutInlineData(part, leaveOut);
  switch (message.role) {
    case 'system':
      return { shown: { role: message.role, content: message.content }, omitted };
    case 'user': {
      const { role, content } = message;
      const shown = { role, content: typeof content === 'string' ? content : content.map(showPart) };
      return { shown, omitted };
    }
    case 'tool': {
      const { role, toolCallId, toolName, content, attachments } = message;
      const shown = { role, toolCallId, toolName, content, attachments: attachments?.map(showPart) };
      return { shown, omitted };
    }
    case 'assistant': {
      const { role, content, toolCalls, reasoning, reasoningDetails, parts } = message;
      const shown = {
        role,
        content,
        toolCalls: toolCalls?.map(showCall),
        reasoning,
        reasoningDetails: reasoningDetails && leaveOut(reasoningDetails),
        parts: parts && leaveOut(parts),
      };
      return { shown, omitted };
    }
  }
}

function withoutInlineData(part: ContentPart, leaveOut: (value: unknown) => Omitted): unknown {
  if (part.type !== 'image_url' || !part.image_url.url.startsWith('data:')) return part;
  return { ...part, image_url: { url: leaveOut(part.image_url.url) } };
}

function showCall({ id, name, arguments: given, rawArguments, extraContent }: ProviderToolCall) {
  const extra = extraContent === undefined ? undefined : omit(extraContent);
  return { id, name, arguments: given, rawArguments, extraContent: extra };
}

function omit(value: unknown): Omitted {
  const text = typeof value === 'string' ? value : canonicalJson(value);
  return { digest: digestOf(text), bytes: Buffer.byteLength(text) };
}
