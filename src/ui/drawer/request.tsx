/** What a model was sent: the request of each call, its parts by size, and what is new in it since the call before. */

import { useSignal } from '@preact/signals';
import type { Answers } from '../../client/http/answers.ts';
import { CommandLine } from '../parts/act-button.tsx';
import { Loaded, useLoad } from '../parts/loaded.tsx';
import { Folded, Json, LongText } from '../parts/values.tsx';
import { Windowed } from '../parts/windowed.tsx';
import { goToCall, openTab } from '../router.ts';
import { everthread } from '../session/commands.ts';
import { ask } from '../session/session.ts';
import { bytes, clock, count, duration, money, parseOr, plural, pretty } from '../text.ts';
import type { TabProps } from './tab.ts';

type ModelCallRow = Answers['GET /v1/threads/{threadId}/model-calls']['modelCalls'][number];

/** What is shown of a message as it was sent. */
interface SentMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly toolCalls?: readonly { readonly name?: string; readonly arguments?: unknown }[];
}

interface SentTool {
  readonly name?: string;
  readonly function?: { readonly name: string };
}

const PAGE = 100;

/** Newest first: the newest calls, or those from `from` or behind `after`. */
async function listCalls(threadId: string, from: string | undefined, after: string | undefined) {
  const page = (behind?: string) => {
    const query = { order: 'desc', limit: PAGE, after: behind };
    return ask('GET /v1/threads/{threadId}/model-calls', { threadId }, { query });
  };
  const newest = await page(after);
  const [step, attempt, call] = (from ?? '').split('.').map(Number);
  if (!call || newest.modelCalls.some(({ id }) => id === from)) return newest;
  const earlier = await page(`${step}.${attempt}.${call + 1}`);
  return earlier.modelCalls[0]?.id === from ? earlier : newest;
}

const [NEWEST, EARLIER] = ['newest', 'earlier'];

export function RequestTab({ reading, call }: TabProps) {
  const { threadId } = reading;
  const after = useSignal<string | undefined>(undefined);
  const steps = reading.thread.value?.lastStep;
  const calls = useLoad(() => listCalls(threadId, call, after.value), [threadId, steps, call, after.value]);
  const choose = (value: string, cursor: string | null) => {
    if (value !== NEWEST && value !== EARLIER) return goToCall(threadId, value);
    after.value = value === EARLIER && cursor !== null ? cursor : undefined;
    return openTab(threadId, 'request');
  };
  return (
    <Loaded load={calls}>
      {({ modelCalls: list, cursor }) => {
        const shown = list.find(({ id }) => id === call) ?? list[0];
        if (!shown) return <p class="faint">No model has been called yet.</p>;
        return (
          <>
            <label class="chooser">
              Model call
              <select value={shown.id} onChange={({ currentTarget }) => choose(currentTarget.value, cursor)}>
                {(after.value || call) && <option value={NEWEST}>The newest call</option>}
                {list.map((each) => (
                  <option key={each.id} value={each.id}>
                    {callLabel(each)}
                  </option>
                ))}
                {cursor !== null && <option value={EARLIER}>Earlier calls…</option>}
              </select>
            </label>
            <CallFacts call={shown} />
            <CommandLine usual={everthread('threads', 'request', threadId, shown.id)} />
            {shown.request === 'kept' ? (
              <Sent key={shown.id} threadId={threadId} callId={shown.id} />
            ) : (
              <p class="faint">{ABSENT[shown.request]}</p>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

const ABSENT: Readonly<Record<Exclude<ModelCallRow['request'], 'kept'>, string>> = {
  open: 'The call has not ended: its request is kept with its end.',
  lost: 'Its worker was lost before it ended: the next attempt sent the same.',
  removed: 'Its request is no longer kept.',
  off: 'The server keeps no requests.',
};

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
    call.messages !== null && plural(call.messages, 'message'),
    call.firstTokenAt && `first token ${duration(call.firstTokenAt - call.startedAt)}`,
    call.endedAt && duration(call.endedAt - call.startedAt),
    usage && `${count(usage.promptTokens)} in, ${count(usage.completionTokens)} out`,
    cost && money(cost),
  ];
  return <p class="faint">{facts.filter(Boolean).join(' · ')}</p>;
}

function Sent(asked: { readonly threadId: string; readonly callId: string }) {
  const onlyNew = useSignal(false);
  const load = useLoad(
    () => ask('GET /v1/threads/{threadId}/model-calls/{callId}/request', asked),
    [asked.threadId, asked.callId],
  );
  return (
    <Loaded load={load}>
      {({ request, gaps, sizes, changedFrom, diff }) => {
        const { messages: sent = [], tools: offered = [], ...options } = request;
        const [messages, tools] = [sent as readonly SentMessage[], offered as readonly SentTool[]];
        // The position of a message that was left out is one of the request before.
        const changes = new Map(
          diff.filter(({ change }) => change !== 'removed').map(({ position, change }) => [position, change]),
        );
        const countOf = (kind: string) => diff.filter(({ change }) => change === kind).length;
        const removed = diff.filter(({ change }) => change === 'removed').map(({ position }) => position);
        const shown = messages
          .map((message, position) => ({ key: String(position), message, position }))
          .filter(({ position }) => !onlyNew.value || changes.has(position));
        const missing = new Map(gaps.map(({ position, reason }) => [position, reason]));
        return (
          <>
            <Sizes sizes={sizes} />
            {changedFrom !== null && (
              <p class="faint">
                New since {changedFrom}: {plural(countOf('added'), 'message')}
                {countOf('changed') > 0 && `, ${countOf('changed')} changed`}
                {removed.length > 0 && `, ${removed.length} left out`}{' '}
                <label class="check">
                  <input
                    type="checkbox"
                    checked={onlyNew.value}
                    onChange={({ currentTarget }) => {
                      onlyNew.value = currentTarget.checked;
                    }}
                  />
                  only what is new
                </label>
              </p>
            )}
            {changedFrom !== null && removed.length > 0 && (
              <LeftOut threadId={asked.threadId} callId={changedFrom} positions={removed} />
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
            <Windowed
              items={shown}
              estimate={70}
              label="Messages of the request"
              render={({ message, position }) => (
                <div class={`sent ${changes.get(position) ?? ''}`} data-role={message.role}>
                  <SentMessageText
                    message={message}
                    change={changes.get(position)}
                    gap={missing.get(position)}
                    position={position}
                  />
                </div>
              )}
            />
          </>
        );
      }}
    </Loaded>
  );
}

interface LeftOutProps {
  readonly threadId: string;
  /** The call before, which still had them. */
  readonly callId: string;
  readonly positions: readonly number[];
}

/** Messages of the request before that this one has no more. */
function LeftOut({ positions, ...asked }: LeftOutProps) {
  const open = useSignal(false);
  return (
    <details onToggle={({ currentTarget }) => (open.value = currentTarget.open)}>
      <summary>{plural(positions.length, 'message')} left out, as they were sent before</summary>
      {open.value && <LeftOutMessages {...asked} positions={positions} />}
    </details>
  );
}

function LeftOutMessages({ positions, ...asked }: LeftOutProps) {
  const load = useLoad(
    () => ask('GET /v1/threads/{threadId}/model-calls/{callId}/request', asked),
    [asked.threadId, asked.callId],
  );
  return (
    <Loaded load={load}>
      {({ request, gaps }) => {
        const messages = (request.messages ?? []) as readonly SentMessage[];
        return positions.slice(0, LEFT_OUT).map((position) => (
          <div key={position} class="sent removed">
            <SentMessageText
              message={messages[position] ?? { role: '' }}
              change="left out"
              gap={gaps.find((each) => each.position === position)?.reason}
              position={position}
            />
          </div>
        ));
      }}
    </Loaded>
  );
}

/** Most messages that are shown of those that were left out. */
const LEFT_OUT = 100;

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
