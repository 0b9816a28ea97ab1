/** Reads the messages of a chat page by page, the newest first: a page is so many executions and what users said before them. */
import { z } from '@hono/zod-openapi';
import { followRows } from '../../../client/follow-events.ts';
import { fillRows } from '../../../client/follow-run.ts';
import { HistoryRows } from '../../../client/history-rows.ts';
import { ChatHistory } from '../../../projections/ai-sdk/chat-history.ts';
import type { UiDialect } from '../../../projections/ai-sdk/ui-chunk.ts';
import type { UiMessage, UiPart } from '../../../projections/ai-sdk/ui-message.ts';
import type { LogRow } from '../../../projections/projection.ts';
import type { ThreadStore } from '../../../store/store.ts';
import { refuseRequest } from '../problem.ts';

export const chatMessages = z
  .object({
    messages: z
      .array(
        z.object({
          id: z.string(),
          role: z.enum(['user', 'assistant']),
          parts: z
            .array(z.looseObject({ type: z.string() }))
            .meta({ description: "Parts as the AI SDK's UIMessage has them" }),
        }),
      )
      .meta({ description: 'Oldest first' }),
    before: z
      .string()
      .nullable()
      .meta({ description: 'Reads the page before this one; null if there is none' }),
  })
  .openapi('ChatMessages');

export interface ChatPage {
  readonly threadId: string;
  readonly dialect: UiDialect;
  /** Number of executions at most. */
  readonly limit: number;
  /** Id of the oldest execution of the page that comes after. */
  readonly before?: string | undefined;
  /** Gives a file of the thread an address. */
  readonly address: (path: string) => Promise<string>;
}

export async function readChatPage(
  store: ThreadStore,
  { threadId, dialect, limit, before, address }: ChatPage,
): Promise<z.infer<typeof chatMessages>> {
  const next = before === undefined ? undefined : await store.executions.get(threadId, before);
  if (next === null)
    refuseRequest(`Chat ${threadId} has no response "${before}": pass the "before" of the previous page.`);
  const found = await store.executions.list({ threadId, limit: limit + 1, before: next });
  const older = found[limit];
  const history = new ChatHistory(dialect);
  // What precedes an execution follows the end of the one before, so the rows begin with that one.
  const after = older?.firstSeq ? older.firstSeq - 1 : 0;
  const last = next ? found[0]?.id : undefined;
  for await (const row of rowsUntil(store, threadId, { after, last })) history.add(row);
  const told = history.messages.filter(({ id }) => id !== older?.id);
  return {
    messages: await Promise.all(told.map((message) => withAddresses(message, address))),
    before: older ? (found[limit - 1]?.id ?? null) : null,
  };
}

/** Yields rows of the history up to the end of the execution `last`; to the end of the log if it is undefined. */
async function* rowsUntil(
  store: ThreadStore,
  threadId: string,
  { after, last }: { readonly after: number; readonly last: string | undefined },
): AsyncGenerator<LogRow> {
  const history = await HistoryRows.of(store, threadId);
  for await (const page of followRows(store, threadId, { after, follow: false }))
    for (const row of await fillRows(
      store,
      threadId,
      page.filter((event) => history.has(event)),
    )) {
      yield row;
      if (row.event.type === 'execution.ended' && row.event.data.executionId === last) return;
    }
}

async function withAddresses(message: UiMessage, address: ChatPage['address']) {
  const toShown = async (part: UiPart) =>
    part.type === 'file' ? { ...part, url: await address(part.url) } : { ...part };
  return { ...message, parts: await Promise.all(message.parts.map(toShown)) };
}
