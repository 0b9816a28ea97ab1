/** `everthread threads request`: what a model was sent. Needs the store, and no server. */
import { RuntimeError } from '../../core/value/error.ts';
import { escapeControls, shorten } from '../../core/value/shown-text.ts';
import type { ModelCallRecord, RequestChange, ShownRequest } from '../../store/request/request-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import { type CommandOutcome, option, optional, parseCount, THREAD, toggle } from '../command.ts';
import { commandName } from '../command-name.ts';
import { readThread, storeCommand } from '../connection/find-store.ts';
import { type Cells, listing } from '../output/listing.ts';

export const threadRequest = storeCommand({
  description:
    'Shows the request that a model received: its messages, tools and options, with the size of each part. Messages ' +
    'that were changed or deleted since are gaps. Without a call it lists the model calls of the thread, the newest last. ' +
    'With --json: the request as GET …/model-calls/CALL/request answers it, or { modelCalls }.',
  arguments: { thread: THREAD, call: optional('id of a call, such as 4.1.1, or "last"') },
  options: {
    diff: toggle('only what differs from the request before'),
    after: option('<call>', 'list calls after this one'),
    limit: option('<n>', 'list at most n calls', parseCount, 100),
  },
  async read(store, { thread, call, diff, after, limit }) {
    await readThread(store, thread);
    if (call === undefined && !diff) return listCalls(store, thread, { after, limit });
    const asked = call ?? 'last';
    const id = asked === 'last' ? await findLast(store, thread) : asked;
    const shown = await store.modelCalls.readRequest(thread, id);
    const before =
      diff && shown.changedFrom ? await store.modelCalls.readRequest(thread, shown.changedFrom) : undefined;
    return { json: shown, text: escapeControls(toText(shown, diff, before)) };
  },
});

async function listCalls(
  store: ThreadStore,
  thread: string,
  page: { readonly after: string | undefined; readonly limit: number },
): Promise<CommandOutcome> {
  return listing('modelCalls', await store.modelCalls.list(thread, page), {
    columns: COLUMNS,
    none: 'No model has been called yet.',
    limit: page.limit,
    more: (last) => `--after ${last?.id ?? ''}`,
  });
}

const COLUMNS: Cells<ModelCallRecord> = {
  CALL: 'id',
  AT: 'startedAt',
  FOR: ({ kind, prompt }) => shorten([kind.replace('_', ' '), prompt ?? ''].join(' ').trim(), 40),
  MODEL: ['model', 40],
  OUTCOME: ({ status, error }) => (error ? `${status}: ${error.code}` : status),
  MESSAGES: 'messages',
  BYTES: 'bytes',
  REQUEST: 'request',
};

const PAGE = 10;

/** The newest call whose request is kept: most often the last one, or the one before a call that is open. */
async function findLast(store: ThreadStore, thread: string): Promise<string> {
  for (let after: string | undefined; ; ) {
    const query = { after, order: 'desc', limit: PAGE } as const;
    const page: readonly ModelCallRecord[] = await store.modelCalls.list(thread, query);
    const last = page.find(({ request }) => request === 'kept');
    if (last) return last.id;
    after = page.at(-1)?.id;
    if (page.length < PAGE) break;
  }
  throw new RuntimeError(
    'ModelCallNotFound',
    `Thread "${thread}" has no model call whose request is kept: "${commandName()} threads request ${thread}" lists its calls.`,
  );
}

function toText(
  { id, request, gaps, sizes, changedFrom, diff }: ShownRequest,
  onlyDiff: boolean | undefined,
  before: ShownRequest | undefined,
): string {
  const { messages, tools, ...options } = request as Readonly<Record<string, unknown>> & {
    readonly messages: readonly SentMessage[];
  };
  const missing = new Map(gaps.map(({ position, reason }) => [position, reason]));
  const earlier = (before?.request.messages ?? []) as readonly SentMessage[];
  const line = (message: SentMessage | undefined, position: number, sign: string) => {
    const gap = sign === '-' ? undefined : missing.get(position);
    return `${sign}${position} ${message?.role ?? ''}: ${gap ? `[${gap} since]` : contentOf(message)}`;
  };
  const head = `call ${id}${changedFrom ? `, after ${changedFrom}` : ''}`;
  const sized = Object.entries(sizes).map(([part, bytes]) => `${part} ${bytes}`);
  const size = `bytes: ${sized.join(', ')}`;
  if (onlyDiff) {
    const changes = diff.map(({ position, change }) =>
      line(change === 'removed' ? earlier[position] : messages[position], position, SIGNS[change]),
    );
    return [head, size, ...(changes.length > 0 ? changes : ['No message differs.'])].join('\n');
  }
  return [
    head,
    size,
    ...messages.map((message, position) => line(message, position, '')),
    ...(tools ? [`tools: ${JSON.stringify(tools)}`] : []),
    `options: ${JSON.stringify(options)}`,
  ].join('\n');
}

const SIGNS: Readonly<Record<RequestChange['change'], string>> = { added: '+', removed: '-', changed: '~' };

interface SentMessage {
  readonly role: string;
  readonly content?: unknown;
}

/** The text alone, if the message has no more than that. Its lines are indented, so that none looks like a message. */
function contentOf(message: SentMessage | undefined): string {
  const { role: _, content, ...others } = message ?? { role: '' };
  const text = typeof content === 'string' ? content : content === null ? '' : JSON.stringify(content);
  const shown = Object.keys(others).length > 0 ? `${text} ${JSON.stringify(others)}`.trim() : text;
  return shown.replaceAll('\n', '\n    ');
}
