/** Results of tool calls: the agent's answer, its files, or its waits; and parsing of the answers to forms. */
import { type CallToolResult, type InputRequiredResult, inputRequired } from '@modelcontextprotocol/server';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { isRecord } from '../../core/value/record.ts';
import type { CallEnd } from './agent-call.ts';
import { type FilledForm, readFilled, toForm } from './client-form.ts';
import { toBlocks, toFileLink } from './thread-resource.ts';

export function refuse(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/** The text names the thread too, because models read the text. */
export async function toResult(
  client: RuntimeClient,
  end: CallEnd,
  mayAsk: boolean,
): Promise<CallToolResult | InputRequiredResult> {
  const { threadId, executionId, kind } = end;
  const place = { type: 'text' as const, text: `(thread ${threadId})` };
  const structuredContent = { thread: threadId, execution: executionId, status: kind };
  const placed = (text: string) => [{ type: 'text' as const, text }, place];
  switch (end.kind) {
    case 'answered': {
      const blocks = await toBlocks(client, threadId, end.files);
      const files = end.files.map((file) => toFileLink(threadId, file));
      const { text, output } = end;
      return {
        content: [...placed(text), ...blocks],
        structuredContent: {
          ...structuredContent,
          text,
          ...(output && { output }),
          ...(files.length > 0 ? { files } : {}),
        },
      };
    }
    case 'failed':
      return { content: placed(end.error), structuredContent, isError: true };
    case 'waits': {
      const asking = mayAsk ? toInputRequest(end) : undefined;
      if (asking) return asking;
      const waits = end.waits.map(({ id, kind: asked, summary }) => ({ id, kind: asked, summary }));
      const lines = waits.map(({ id, kind: asked, summary }) => `${asked} ${id}: ${summary}`);
      const text = `The agent is waiting for a person. After the answer, call again with only the thread.\n${lines.join('\n')}`;
      return { content: placed(text), structuredContent: { ...structuredContent, waits } };
    }
    case 'working':
      return {
        content: placed('The agent is still working: call again with only the thread.'),
        structuredContent,
      };
  }
}

/** Asks for a form for each wait, under the wait's id. Undefined if no wait can be asked as a form. */
function toInputRequest({ threadId, executionId, waits, reportedSeq }: Extract<CallEnd, { kind: 'waits' }>) {
  const forms = waits.flatMap((wait) => {
    const form = toForm(wait);
    return form ? [[wait.id, inputRequired.elicit(form)] as const] : [];
  });
  if (forms.length === 0) return undefined;
  const requestState = JSON.stringify({ thread: threadId, execution: executionId, reportedSeq });
  return inputRequired({ inputRequests: Object.fromEntries(forms), requestState });
}

export interface EarlierRound {
  readonly thread: string;
  readonly execution: string;
  readonly reportedSeq: number;
  readonly filled: Readonly<Record<string, FilledForm>>;
  /** True if the person dismissed a form. */
  readonly isDismissed: boolean;
}

/** Parses untrusted state, which holds only ids that a call may name anyway. Undefined if it is not one of ours. */
export function readEarlierRound(
  state: unknown,
  responses: Readonly<Record<string, unknown>> | undefined,
): EarlierRound | undefined {
  const { thread, execution, reportedSeq } = parse(state);
  if (typeof thread !== 'string' || typeof execution !== 'string') return undefined;
  const filled = Object.fromEntries(
    Object.entries(responses ?? {}).map(([id, each]) => [id, readFilled(each)]),
  );
  return {
    thread,
    execution,
    reportedSeq: typeof reportedSeq === 'number' ? reportedSeq : 0,
    filled,
    isDismissed: Object.values(filled).some(({ action }) => action === 'cancel'),
  };
}

function parse(state: unknown): Readonly<Record<string, unknown>> {
  if (typeof state !== 'string') return {};
  try {
    const known: unknown = JSON.parse(state);
    return isRecord(known) ? known : {};
  } catch {
    return {};
  }
}
