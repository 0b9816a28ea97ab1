/** The items of a story: messages as in a chat, and between them one line for each step and each call of a tool. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { Edit } from '../dock/again.tsx';
import { Attachments } from '../parts/attachments.tsx';
import { Folded, LongText } from '../parts/values.tsx';
import { goToCall } from '../router.ts';
import { clock, count, duration, money, parseOr, plural, shorten } from '../text.ts';
import type { DiscardedItem, MessageItem, StepItem, ToolItem } from './log.ts';
import type { ThreadReading } from './reading.ts';
import type { Item, NoteItem } from './story-line.ts';
import { Subagent } from './subagent.tsx';

interface ItemProps<T> {
  readonly item: T;
  readonly reading: ThreadReading;
}

export function StoryItem({ item, reading }: ItemProps<Item>) {
  switch (item.kind) {
    case 'message':
      return <MessageBubble item={item} reading={reading} />;
    case 'step':
      return <Step item={item} reading={reading} />;
    case 'tool':
      return <ToolCall item={item} reading={reading} />;
    case 'discarded':
      return <Discarded item={item} reading={reading} />;
    case 'child':
      return <Subagent threadId={item.childId} title={item.name ?? item.agent} show={StoryItem} />;
    case 'note':
      return <Note item={item} />;
  }
}

const AUTHORS: Readonly<Record<string, string>> = { user: 'User', assistant: 'Agent', system: 'System' };

function MessageBubble({ item, reading }: ItemProps<MessageItem>) {
  const message = reading.messages.get(item.messageId);
  if (item.deleted) return <p class="line faint">A message was deleted.</p>;
  if (!message) return null;
  const { role, content, subagent_name: child, silent, metadata, attachments, created_at: at } = message;
  // An answer that only calls tools has no text of its own: the calls follow.
  if (!content && !attachments) return null;
  const marks = [
    silent && 'silent',
    metadata.queued === true && 'queued',
    metadata.stopped === true && 'stopped',
    typeof metadata.revision === 'number' && 'edited',
  ];
  const isOwn = role === 'user' && !silent && !child && item.depth === 0 && metadata.queued !== true;
  const author = child ? `Report of ${child}` : (AUTHORS[role] ?? role);
  return (
    <article class={`message ${role}`} style={indent(item.depth)} data-message={item.messageId}>
      <header>
        <bdi>{author}</bdi>
        <span class="faint">{[...marks.filter(Boolean), clock(at)].join(' · ')}</span>
        {isOwn && <Edit threadId={reading.threadId} message={message} />}
      </header>
      {content && <LongText text={content} />}
      {attachments && <Attachments threadId={reading.threadId} files={attachments} />}
    </article>
  );
}

function Step({ item, reading }: ItemProps<StepItem>) {
  // What has been written stays until its message has been read.
  const isUnread = item.messageId !== null && !reading.messages.has(item.messageId);
  const text = item.state === 'running' || isUnread ? reading.log.textOf(item) : undefined;
  const call = item.calls.at(-1);
  return (
    <div style={indent(item.depth)} data-step={item.step} data-state={item.state}>
      <p class="line step">
        <button
          type="button"
          class="quiet"
          title="What the model was sent"
          disabled={!call}
          onClick={() => call && goToCall(reading.threadId, call.id)}
        >
          Step {item.step}
        </button>{' '}
        <bdi>{stepText(item)}</bdi>
      </p>
      {text && (text.text || text.reasoning || text.inputs.size > 0) && (
        <article class="message assistant live" aria-busy="true">
          {text.reasoning && !text.text && <div class="words faint">{text.reasoning.slice(-2000)}</div>}
          {text.text && (
            <div class="words" dir="auto">
              {text.text.slice(-LIVE)}
            </div>
          )}
          {[...text.inputs].map(([name, given]) => (
            <p class="faint" key={name}>
              <bdi>{name}</bdi> · {plural(given.length, 'character')} of arguments
            </p>
          ))}
        </article>
      )}
      {item.error !== null && <p class="line failure">{item.error}</p>}
    </div>
  );
}

/** Characters of an answer that is being written: laying out all of a very long one takes too long to do it each frame. */
const LIVE = 20_000;

/** Model, attempt, time to the first token, duration, tokens, cost: what is known of them. */
function stepText(step: StepItem): string {
  const call = step.calls.at(-1);
  const { usage, cost, firstAt, at = 0 } = call ?? {};
  const end = step.endedAt ?? call?.endedAt;
  const parts = [
    step.prompt && `prompt ${step.prompt}`,
    call?.model,
    step.calls.length > 1 && plural(step.calls.length, 'request'),
    step.attempt > 1 && `attempt ${step.attempt}`,
    (step.queuedMs ?? 0) > 1000 && `queued ${duration((step.queuedMs ?? 0) * 1000)}`,
    step.heldMs !== null && `waits ${duration(step.heldMs * 1000)} for its model`,
    firstAt && `first token ${duration(firstAt - at)}`,
    end && duration(end - step.at),
    usage && tokensText(usage),
    cost && money(cost),
    step.state === 'running' && (call ? (firstAt ? 'writing' : 'waiting for the model') : 'preparing'),
    step.state === 'stopped' && 'stopped',
    step.state === 'failed' && 'failed',
  ];
  return parts.filter(Boolean).join(' · ');
}

function tokensText({
  promptTokens,
  completionTokens,
  cachedTokens = 0,
}: NonNullable<StepItem['calls'][number]['usage']>) {
  const cached = cachedTokens > 0 ? ` (${count(cachedTokens)} cached)` : '';
  return `${count(promptTokens)} in${cached}, ${count(completionTokens)} out`;
}

const TOOL_STATES: Readonly<Record<ToolItem['state'], string>> = {
  called: 'called',
  running: 'running',
  waiting: 'waits for a person',
  success: 'done',
  error: 'failed',
  unknown: 'outcome unknown',
  refused: 'refused',
  removed: 'removed',
};

function ToolCall({ item, reading }: ItemProps<ToolItem>) {
  const open = useSignal(false);
  // A component with signals is not rendered again for the same object, and items change without their object changing.
  void reading.changes.value;
  const result = item.resultId === null ? undefined : reading.messages.get(item.resultId);
  const worked = item.endedAt === null ? null : item.endedAt - (item.startedAt ?? item.at);
  const given = useMemo(() => argumentsOf(item, reading), [item.callId, result, reading.messages.size]);
  const facts = [
    TOOL_STATES[item.state],
    worked !== null && duration(worked),
    (item.queuedMs ?? 0) > 1000 && `queued ${duration((item.queuedMs ?? 0) * 1000)}`,
    item.waitedMicros > 0 && `waited ${duration(item.waitedMicros)} for a person`,
  ];
  return (
    <div style={indent(item.depth)}>
      <details
        class={`tool ${item.state}`}
        data-tool={item.name}
        data-state={item.state}
        onToggle={({ currentTarget }) => (open.value = currentTarget.open)}
      >
        <summary>
          <bdi class="name">{item.name}</bdi> <span class="faint">{facts.filter(Boolean).join(' · ')}</span>{' '}
          {!open.value && <bdi class="faint given">{shorten(given, GIVEN)}</bdi>}
        </summary>
        {open.value && (
          <>
            <Folded label="Arguments" value={parseOr(given)} open />
            {result?.content && <Folded label="Result" value={parseOr(result.content)} open />}
          </>
        )}
      </details>
      {result?.attachments && <Attachments threadId={reading.threadId} files={result.attachments} />}
      {item.child && <Subagent threadId={item.child.id} title={item.child.title} show={StoryItem} />}
    </div>
  );
}

/** Characters of arguments that a folded call shows. */
const GIVEN = 100;

/** The model's own text of the arguments, from the message of its step. */
function argumentsOf({ step, callId }: ToolItem, { log, messages }: ThreadReading): string {
  const id = log.step(step)?.messageId ?? null;
  const named = id === null ? undefined : messages.get(id)?.tool_calls;
  const from =
    named ?? [...messages.values()].findLast(({ tool_calls: calls }) => calls?.includes(callId))?.tool_calls;
  if (!from) return '';
  const calls = parseOr(from) as readonly { id: string; function: { arguments: string } }[];
  return calls.find(({ id: each }) => each === callId)?.function.arguments ?? '';
}

/** The sentence that follows says why. */
function Discarded({ item, reading }: ItemProps<DiscardedItem>) {
  const text = reading.log.texts.get(item.callId)?.text ?? '';
  return (
    <div style={indent(item.depth)}>
      {text === '' ? (
        <p class="line faint">
          What it had written is no longer kept: an answer’s pieces are removed ten minutes after its turn.
        </p>
      ) : (
        <del class="words" dir="auto">
          {text.slice(0, 2000)}
        </del>
      )}
    </div>
  );
}

/** Characters of a sentence: those that quote arguments are longer. */
const NOTE = 220;

function Note({ item }: { readonly item: NoteItem }) {
  if (item.more)
    return (
      <details class={`line ${item.tone}`}>
        <summary>
          <bdi>{item.line}</bdi>
        </summary>
        <LongText text={item.more} />
      </details>
    );
  return (
    <p
      class={`line ${item.tone === 'plain' ? 'faint' : item.tone}`}
      title={`${clock(item.at)}: ${item.line}`}
    >
      <bdi>{shorten(item.line, NOTE)}</bdi>
    </p>
  );
}

function indent(depth: number) {
  return depth === 0 ? undefined : { marginInlineStart: `${Math.min(depth, 6) * 16}px` };
}
