/**
 * Parses what AG-UI's clients send: all messages, of which those count that the thread does not have; answers to
 * interrupts; the client's tools. State and context of the request are ignored: an agent has its own.
 */
import { z } from '@hono/zod-openapi';
import { LIMITS } from '../../../core/value/limit.ts';
import { definedFields } from '../../../core/value/record.ts';
import { GRANT_COVERS, WAIT_SCOPES, type WaitAnswer } from '../../../core/wait/answer.ts';
import type { Wait } from '../../../store/wait/wait-record.ts';
import { readClientTools } from '../conversation/client-tools.ts';
import { type Conversation, readConversation } from '../conversation/conversation.ts';
import {
  BYTES,
  type GivenMessage,
  type GivenPart,
  toDataUrl,
  toParts,
} from '../conversation/given-message.ts';
import type { CopyFiles } from '../conversation/own-files.ts';
import { refuseRequest } from '../problem.ts';
import { optionalField, optionalText } from '../schema/optional-field.ts';
import { type GivenIds, readGivenIds, toAgUiItemId } from './given-ids.ts';

const part = z.looseObject({
  type: z.string(),
  text: optionalText,
  source: optionalField(z.looseObject({ type: z.string(), value: optionalText, mimeType: optionalText })),
  /** A part of the type `binary`, from earlier versions of the protocol, has these. */
  mimeType: optionalText,
  data: optionalText,
  url: optionalText,
  filename: optionalText,
});

const message = z.looseObject({
  id: z.string().min(1),
  role: z.string(),
  content: z.union([z.string(), z.array(part), z.record(z.string(), z.unknown())]).nullish(),
  toolCalls: z
    .array(
      z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) }),
    )
    .nullish(),
  toolCallId: z.string().nullish(),
  error: z.string().nullish(),
});

const tool = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.unknown().optional(),
});

const resume = z.looseObject({
  interruptId: z.string(),
  status: z.enum(['resolved', 'cancelled']),
  payload: z.unknown().optional(),
});

export const agUiBody = z
  .looseObject({
    threadId: z.string().min(1).max(LIMITS.threadIdChars),
    runId: z.string().min(1).max(200),
    messages: z.array(message),
    resume: z.array(resume).nullish(),
    tools: z.array(tool).nullish().meta({
      description: 'Tools that the client runs itself, offered to the agent while it answers this message',
    }),
    forwardedProps: z
      .unknown()
      .optional()
      .meta({ description: '`arguments`: an object with the arguments of a new thread' }),
  })
  .openapi('AgUiRun');

export type GivenResume = z.infer<typeof resume>;

export interface AgUiTurn {
  readonly said: Conversation;
  readonly ids: GivenIds;
  /** Messages of the user behind the assistant's last one, as they were sent. */
  readonly fresh: readonly { readonly id: string }[];
  readonly resume: readonly GivenResume[];
  readonly given: Readonly<Record<string, unknown>> | undefined;
}

/** Throws `InvalidRequest`. */
export async function readAgUiRun(body: z.infer<typeof agUiBody>, copy: CopyFiles): Promise<AgUiTurn> {
  const { threadId, messages, resume: answers, tools, forwardedProps } = body;
  const props = z
    .looseObject({ arguments: optionalField(z.record(z.string(), z.unknown())) })
    .safeParse(forwardedProps);
  return {
    said: await readConversation(messages.map(toGiven), {
      tools: readClientTools(tools ?? []),
      threadId,
      copy,
    }),
    ids: readGivenIds(messages),
    fresh: messages
      .slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
      .filter(({ role }) => role === 'user'),
    resume: answers ?? [],
    given: props.data?.arguments,
  };
}

function toGiven({ id, role, content, error, ...given }: z.infer<typeof message>): GivenMessage {
  const parts = typeof content === 'string' || Array.isArray(content) ? content : null;
  return {
    // The message's own id, so that the thread's messages have the client's ids.
    id: toAgUiItemId(id),
    role,
    parts: error ? [{ kind: 'text', text: error }] : toParts(parts, toPart),
    calls: given.toolCalls?.map((call) => ({ id: call.id, ...call.function })),
    callId: given.toolCallId ?? undefined,
    failed: Boolean(error),
  };
}

function toPart({ type, text, source, ...binary }: z.infer<typeof part>): GivenPart {
  if (type === 'text') return { kind: 'text', text: text ?? '' };
  const { mimeType = source?.mimeType ?? BYTES, data, url, filename: name } = binary;
  const base64 = source?.type === 'data' ? source.value : data;
  const address = source?.type === 'url' ? source.value : url;
  const found = base64 === undefined ? address : toDataUrl(base64);
  return found === undefined ? { kind: 'other', type } : { kind: 'file', type, url: found, mimeType, name };
}

const decision = z.object({
  approved: z.boolean(),
  reason: optionalText,
  scope: optionalField(z.enum(WAIT_SCOPES)),
  covers: optionalField(z.enum(GRANT_COVERS)),
  until: optionalField(z.int()),
  arguments: optionalField(z.record(z.string(), z.unknown())),
});

/** Throws `InvalidRequest` if the payload does not fit: an approval needs an explicit `approved`. */
export function toWaitAnswer(
  { id, kind }: Pick<Wait, 'id' | 'kind'>,
  { status, payload }: GivenResume,
): WaitAnswer {
  if (status === 'cancelled') return { approved: false };
  if (kind === 'approval' || kind === 'paused') {
    const { data } = decision.safeParse(payload);
    return data ? definedFields(data) : refusePayload(id, '{ "approved": true } or { "approved": false }');
  }
  const { data } = z.object({ value: z.unknown() }).safeParse(payload);
  return data && data.value !== undefined ? { value: data.value } : refusePayload(id, '{ "value": … }');
}

function refusePayload(id: string, wanted: string): never {
  return refuseRequest(`resume: the payload for "${id}" must be ${wanted}.`);
}
