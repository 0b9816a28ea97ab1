/** What can be done with a thread now, always in view: its open questions, the box to send, stop, continue, cancel, terminate. */
import { CommandLine, shownCommand } from '../parts/act-button.tsx';
import { everthread } from '../session/commands.ts';
import { may } from '../session/session.ts';
import type { ThreadReading } from '../story/reading.ts';
import { SendBox } from './send-box.tsx';
import { ThreadControls } from './thread-controls.tsx';
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
