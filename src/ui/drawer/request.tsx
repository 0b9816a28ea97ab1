/** What a model was sent: the request of each call, its parts by size, and what is new in it since the call before. */

import { CommandLine } from '../parts/act-button.tsx';
import { Loaded, useLoad } from '../parts/loaded.tsx';
import { Folded, Json, LongText } from '../parts/values.tsx';
import { goToCall } from '../router.ts';
import { everthread } from '../session/commands.ts';
import { read } from '../session/session.ts';
import { bytes, clock, count, money, parseOr, plural, pretty } from '../text.ts';
import type { TabProps } from './tab.ts';

interface ModelCallRow {
  readonly id: string;
  readonly kind: string;
  readonly prompt: string | null;
  readonly model: string;
  readonly startedAt: number;
  readonly status: string;
  readonly messages: number | null;
  readonly bytes: number | null;
  readonly request: 'kept' | 'removed' | 'off';
  readonly cost?: number | null;
  readonly usage?: { readonly promptTokens: number; readonly completionTokens: number } | null;
}

interface SentMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly toolCalls?: readonly { readonly name?: string; readonly arguments?: unknown }[];
  readonly toolCallId?: string;
}

interface SentRequest {
  readonly request: {
    readonly model: string;
    readonly messages: readonly SentMessage[];
    readonly tools?: readonly { readonly name?: string; readonly function?: { readonly name: string } }[];
  };
  readonly gaps: readonly { readonly position: number; readonly reason: string }[];
  readonly sizes: Readonly<Record<string, number>>;
  readonly changedFrom: string | null;
  readonly diff: readonly { readonly position: number; readonly change: 'added' | 'removed' | 'changed' }[];
}

const PAGE = 1000;

async function listCalls(path: string): Promise<readonly ModelCallRow[]> {
  const calls: ModelCallRow[] = [];
  for (let after: string | undefined; ; ) {
    const page = await read<{ modelCalls: readonly ModelCallRow[]; cursor: string | null }>(path, {
      query: { limit: PAGE, after },
    });
    calls.push(...page.modelCalls);
    if (page.modelCalls.length < PAGE || page.cursor === null) return calls;
    after = page.cursor;
  }
}

export function RequestTab({ reading, call }: TabProps) {
  const path = `/v1/threads/${encodeURIComponent(reading.threadId)}/model-calls`;
  const steps = reading.thread.value?.lastStep;
  const calls = useLoad(() => listCalls(path), [path, steps, call]);
  return (
    <Loaded load={calls}>
      {(list) => {
        const shown = list.find(({ id }) => id === call) ?? list.at(-1);
        if (!shown) return <p class="faint">No model has been called yet.</p>;
        return (
          <>
            <label class="chooser">
              Model call
              <select
                value={shown.id}
                onChange={({ currentTarget }) => goToCall(reading.threadId, currentTarget.value)}
              >
                {list.map((each) => (
                  <option key={each.id} value={each.id}>
                    {callLabel(each)}
                  </option>
                ))}
              </select>
            </label>
            <CallFacts call={shown} />
            <CommandLine usual={everthread('threads', 'request', reading.threadId, shown.id)} />
            {shown.request === 'kept' ? (
              <Sent key={shown.id} path={`${path}/${encodeURIComponent(shown.id)}/request`} />
            ) : (
              <p class="faint">
                {shown.request === 'off' ? 'The server keeps no requests.' : 'Its request is no longer kept.'}
              </p>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

function callLabel({ id, kind, model, status }: ModelCallRow): string {
  const [step, attempt, call] = id.split('.');
  const parts = [`Step ${step}`, attempt !== '1' && `attempt ${attempt}`, call !== '1' && `request ${call}`];
  return [...parts, kind !== 'step' && kind.replace('_', '-'), model, status].filter(Boolean).join(', ');
}

function CallFacts({ call }: { readonly call: ModelCallRow }) {
  const { usage, cost } = call;
  const facts = [
    clock(call.startedAt),
    call.prompt && `prompt ${call.prompt}`,
    call.messages !== null && call.messages !== undefined && plural(call.messages, 'message'),
    usage && `${count(usage.promptTokens)} in, ${count(usage.completionTokens)} out`,
    cost && money(cost),
  ];
  return <p class="faint">{facts.filter(Boolean).join(' · ')}</p>;
}

function Sent({ path }: { readonly path: string }) {
  const load = useLoad(() => read<SentRequest>(path), [path]);
  return (
    <Loaded load={load}>
      {({ request, gaps, sizes, changedFrom, diff }) => {
        const { messages, tools = [], ...options } = request;
        const changes = new Map(diff.map(({ position, change }) => [position, change]));
        const missing = new Map(gaps.map(({ position, reason }) => [position, reason]));
        return (
          <>
            <Sizes sizes={sizes} />
            {changedFrom !== null && (
              <p class="faint">
                New since {changedFrom}:{' '}
                {plural(diff.filter(({ change }) => change === 'added').length, 'message')}
                {diff.some(({ change }) => change === 'removed') &&
                  `, ${diff.filter(({ change }) => change === 'removed').length} left out`}
              </p>
            )}
            {tools.length > 0 && (
              <details>
                <summary>{plural(tools.length, 'tool')} offered</summary>
                {tools.map((tool, index) => (
                  <Folded key={index} label={tool.name ?? tool.function?.name ?? 'tool'} value={tool} />
                ))}
              </details>
            )}
            <Folded label="Options" value={options} />
            <ol class="sent">
              {messages.map((message, position) => (
                <li key={position} class={changes.get(position) ?? ''} data-role={message.role}>
                  <SentMessageText
                    message={message}
                    change={changes.get(position)}
                    gap={missing.get(position)}
                    position={position}
                  />
                </li>
              ))}
            </ol>
          </>
        );
      }}
    </Loaded>
  );
}

interface SentMessageProps {
  readonly message: SentMessage;
  readonly position: number;
  readonly change: string | undefined;
  readonly gap: string | undefined;
}

function SentMessageText({ message, change, gap, position }: SentMessageProps) {
  const { role, content, toolCalls = [] } = message;
  return (
    <>
      <header>
        <bdi>{role}</bdi> <span class="faint">{[position + 1, change].filter(Boolean).join(' · ')}</span>
      </header>
      {gap !== undefined && <p class="line warning">The message was {gap} since: nothing of it is kept.</p>}
      {content !== undefined && content !== null && <LongText text={pretty(content)} />}
      {toolCalls.map((call, index) => (
        <Folded
          key={index}
          label={`calls ${call.name ?? ''}`}
          value={typeof call.arguments === 'string' ? parseOr(call.arguments) : call}
        />
      ))}
      {content === undefined && toolCalls.length === 0 && gap === undefined && <Json value={message} />}
    </>
  );
}

/** The sections of a request as parts of one bar. */
function Sizes({ sizes }: { readonly sizes: Readonly<Record<string, number>> }) {
  const parts = Object.entries(sizes).filter(([, size]) => size > 0);
  const total = parts.reduce((sum, [, size]) => sum + size, 0);
  return (
    <div class="sizes">
      <div class="bar" aria-hidden="true">
        {parts.map(([name, size]) => (
          <span key={name} class={`part ${name}`} style={{ flexGrow: String(size) }} />
        ))}
      </div>
      <p>
        {parts.map(([name, size]) => (
          <span key={name} class={`legend ${name}`}>
            {name} {bytes(size)}
          </span>
        ))}
        <span class="faint">{bytes(total)} in all</span>
      </p>
    </div>
  );
}
