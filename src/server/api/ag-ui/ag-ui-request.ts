/**
 * Parses what AG-UI's clients send: all messages, of which the last counts if it is a user's that the thread does not
 * have, and results of the client's own calls; answers to interrupts; the client's tools. State and context of the
 * request are ignored: an agent has its own.
 */
import { createHash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import type { OutgoingMessage } from '../../../client/outgoing.ts';
import { isAnswerId } from '../../../core/message/answer-id.ts';
import { CLIENT_TOOLS, type ClientTool, refuseClientTools } from '../../../core/project/client-tool.ts';
import { isItemId } from '../../../core/thread/item.ts';
import { LIMITS } from '../../../core/value/limit.ts';
import { isRecord } from '../../../core/value/record.ts';
import { WAIT_SCOPES, type WaitAnswer } from '../../../core/wait/answer.ts';
import type { Wait } from '../../../store/port/thread-store.ts';
import type { ClientResults } from '../chat/client-results.ts';
import { toAttachment } from '../chat/data-url.ts';
import { refuseRequest } from '../problem.ts';

const part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  source: z
    .looseObject({ type: z.string(), value: z.string().optional(), mimeType: z.string().optional() })
    .optional(),
});

const message = z.looseObject({
  id: z.string().min(1),
  role: z.string(),
  content: z.union([z.string(), z.array(part), z.record(z.string(), z.unknown())]).nullish(),
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

type GivenMessage = z.infer<typeof message>;
export type GivenResume = z.infer<typeof resume>;

export interface AgUiTurn {
  /** Null if the last message is not a user's. */
  readonly message: (OutgoingMessage & { readonly id: string }) | null;
  /** Earlier messages that a new thread begins with: the last ones, up to the limit. */
  readonly before: readonly OutgoingMessage[];
  readonly resume: readonly GivenResume[];
  /** Results of the client's own calls, and of any other calls that the request has results for. */
  readonly results: ClientResults;
  /** True if the last message is a result. */
  readonly isResult: boolean;
  readonly given: Readonly<Record<string, unknown>> | undefined;
}

/** Throws `InvalidRequest`. */
export function readAgUiRun({
  messages,
  resume: answers,
  tools,
  forwardedProps,
}: z.infer<typeof agUiBody>): AgUiTurn {
  const last = messages.at(-1);
  const offered = readTools(tools ?? []);
  const before = messages.slice(0, -1).flatMap(toEarlierMessages);
  const props = z
    .looseObject({ arguments: z.record(z.string(), z.unknown()).optional() })
    .safeParse(forwardedProps);
  return {
    message: last?.role === 'user' ? { ...toMessage(last), ...metadataOf(offered) } : null,
    before: before.slice(1 - LIMITS.startMessages),
    resume: answers ?? [],
    ...readResults(messages),
    given: props.data?.arguments,
  };
}

/** Throws `InvalidRequest`. */
function readTools(tools: readonly z.infer<typeof tool>[]): readonly ClientTool[] {
  const given = tools.map(({ name, description, parameters }) => ({
    name,
    description: description ?? '',
    parameters: isRecord(parameters) ? parameters : { type: 'object', properties: {} },
  }));
  const refusal = refuseClientTools(given);
  return refusal === undefined ? given : refuseRequest(`tools: ${refusal}.`);
}

function metadataOf(tools: readonly ClientTool[]): Pick<OutgoingMessage, 'metadata'> {
  return tools.length > 0 ? { metadata: { [CLIENT_TOOLS]: tools } } : {};
}

/** Reads the results behind the agent's last message: the thread knows earlier ones. */
function readResults(messages: readonly GivenMessage[]): Pick<AgUiTurn, 'results' | 'isResult'> {
  const first = messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  const results = messages
    .slice(first)
    .flatMap((each) =>
      each.role === 'tool' && each.toolCallId ? [[each.toolCallId, toResult(each)] as const] : [],
    );
  return { results: new Map(results), isResult: messages.at(-1)?.role === 'tool' };
}

function toResult(given: GivenMessage): unknown {
  return given.error ? { error: given.error } : textOf(given);
}

function toEarlierMessages(given: GivenMessage): readonly OutgoingMessage[] {
  const { role } = given;
  const content = textOf(given);
  if ((role !== 'user' && role !== 'assistant') || content === '') return [];
  return [{ id: itemIdOf(given.id), role, content }];
}

function toMessage(given: GivenMessage): OutgoingMessage & { readonly id: string } {
  const parts = Array.isArray(given.content) ? given.content : [];
  const attachments = parts
    .filter(({ type }) => type !== 'text')
    .map(({ type, source }, n) => {
      if (source?.type !== 'data' || source.value === undefined)
        return refuseRequest(
          `messages: a part of the type "${type}" must be sent within the message, as base64 data.`,
        );
      const url = `data:${source.mimeType ?? 'application/octet-stream'};base64,${source.value}`;
      return toAttachment({ url }, n);
    });
  return {
    id: itemIdOf(given.id),
    content: textOf(given),
    ...(attachments.length > 0 ? { attachments } : {}),
  };
}

function textOf({ content }: GivenMessage): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.flatMap(({ type, text }) => (type === 'text' && text ? [text] : [])).join('\n');
}

/** Returns the message's own id if it is valid for an item, so that the thread's messages have the client's ids. */
function itemIdOf(id: string): string {
  if (isItemId(id) && !isAnswerId(id)) return id;
  return `ag-${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}

const decision = z.object({
  approved: z.boolean(),
  reason: z.string().optional(),
  scope: z.enum(WAIT_SCOPES).optional(),
});

/** Throws `InvalidRequest` if the payload does not fit: an approval needs an explicit `approved`. */
export function toWaitAnswer(
  { id, kind }: Pick<Wait, 'id' | 'kind'>,
  { status, payload }: GivenResume,
): WaitAnswer {
  if (status === 'cancelled') return { approved: false };
  if (kind === 'approval' || kind === 'paused') {
    const { data } = decision.safeParse(payload);
    return data ? omitUndefined(data) : refusePayload(id, '{ "approved": true } or { "approved": false }');
  }
  const { data } = z.object({ value: z.unknown() }).safeParse(payload);
  return data && data.value !== undefined ? { value: data.value } : refusePayload(id, '{ "value": … }');
}

function omitUndefined({ approved, reason, scope }: z.infer<typeof decision>): WaitAnswer {
  return { approved, ...(reason === undefined ? {} : { reason }), ...(scope === undefined ? {} : { scope }) };
}

function refusePayload(id: string, wanted: string): never {
  return refuseRequest(`resume: the payload for "${id}" must be ${wanted}.`);
}
