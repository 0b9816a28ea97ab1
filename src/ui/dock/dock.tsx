/** What can be done with a thread now, always in view: its open questions, the box to send, stop, continue, cancel, terminate. */
import { useSignal } from '@preact/signals';
import { newId } from '../../client/http/outgoing-json.ts';
import { toFragment } from '../address.ts';
import { ActButton, attempt, CommandLine, shownCommand } from '../parts/act-button.tsx';
import { everthread } from '../session/commands.ts';
import { act, may } from '../session/session.ts';
import type { ThreadReading } from '../story/reading.ts';
import { Regenerate } from './again.tsx';
import { SendBox } from './send-box.tsx';
import { WaitCard } from './wait-card.tsx';

export function Dock({ reading }: { readonly reading: ThreadReading }) {
  const thread = reading.thread.value;
  if (!thread) return null;
  const waits = reading.waits.value;
  const isOver = thread.terminatedAt !== null;
  return (
    <section class="dock" aria-label="Actions" onPointerLeave={() => (shownCommand.value = null)}>
      {waits.length > 0 && (
        <div class="waits">
          {waits.map((wait) => (
            <WaitCard key={wait.id} wait={wait} threadId={thread.id} answered={() => reading.readWaits()} />
          ))}
        </div>
      )}
      {isOver ? (
        <p class="faint">
          This thread is terminated: it accepts nothing more, and everything stays readable.
        </p>
      ) : may('write') ? (
        <>
          <SendBox reading={reading} />
          <ThreadControls reading={reading} />
        </>
      ) : (
        <p class="faint">Your token may read this thread, and not change it.</p>
      )}
      <CommandLine usual={everthread('threads', 'tail', thread.id)} />
    </section>
  );
}

const EFFECTS = {
  stop: 'Ends what runs; what is queued waits for the next message.',
  cancel: 'Ends what runs; what others have queued runs next.',
  continue: 'Goes on with what is queued, else from the history.',
} as const;

/** Those that have an effect in the thread’s status. Terminate asks first. */
function ThreadControls({ reading: { threadId, thread } }: { readonly reading: ThreadReading }) {
  const asks = useSignal(false);
  const status = thread.value?.status ?? 'idle';
  const works = status === 'running' || status === 'waiting';
  const of = (word: string) => everthread('threads', word, threadId);
  const ids = { threadId };
  if (asks.value)
    return (
      <div class="row" role="alertdialog" aria-label="Terminate this thread?">
        <span>End this thread permanently? It accepts nothing afterwards.</span>
        <ActButton
          command={of('terminate')}
          tone="danger"
          name="confirm"
          run={async () => {
            const body = { reason: 'terminated from the page' };
            await attempt(
              () => act('POST /v1/threads/{threadId}/terminate', ids, { body, again: true }),
              'Terminated.',
            );
            asks.value = false;
          }}
        >
          Terminate
        </ActButton>
        <button type="button" class="plain" onClick={() => (asks.value = false)}>
          Keep it
        </button>
      </div>
    );
  const ask = (word: keyof typeof EFFECTS, done: string) => ({
    name: word,
    command: of(word),
    effect: EFFECTS[word],
    run: () => attempt(() => act(`POST /v1/threads/{threadId}/${word}`, ids, { body: {} }), done),
  });
  return (
    <div class="row controls">
      {works && <ActButton {...ask('stop', 'Asked the thread to stop.')}>Stop</ActButton>}
      {works && <ActButton {...ask('cancel', 'Asked to cancel what runs.')}>Cancel</ActButton>}
      {!works && <ActButton {...ask('continue', 'Asked the thread to continue.')}>Continue</ActButton>}
      {!works && <Regenerate threadId={threadId} />}
      <ActButton
        command={of('fork')}
        effect="Makes another thread with this history, and shows it."
        name="fork"
        run={async () => {
          // One id for all that is sent again: there is one fork.
          const body = { threadId: `fork-${newId()}` };
          const forked = await attempt(
            () => act('POST /v1/threads/{threadId}/fork', ids, { body, again: true }),
            'This is the fork.',
          );
          if (forked) location.hash = toFragment({ view: 'thread', threadId: forked.threadId });
        }}
      >
        Fork
      </ActButton>
      <ActButton
        command={of('terminate')}
        effect="Ends the thread permanently; asks first."
        name="terminate"
        run={() => (asks.value = true)}
      >
        Terminate…
      </ActButton>
    </div>
  );
}
