/** The first scenario: one conversation, served by three workers in turn. `story.ts` has what happens. */
import { createNarrator } from './narrator.ts';
import { checkPromises } from './promise.ts';
import { printPlaces, printPrice, printPromises, printTranscript } from './report.ts';
import { giveSecret, searchSecret } from './secret.ts';
import { tellStory } from './story.ts';
import type { Theatre } from './theatre.ts';
import { ThreadLog } from './thread-log.ts';

export async function performLibrary(theatre: Theatre): Promise<boolean> {
  const { options, screen, client, threadId, temporal, taskQueue, folder, stack } = theatre;
  const secret = await giveSecret(client, threadId);
  screen.say('server', 'the key of the bulletin is set as a secret of the thread, encrypted in the store');
  const log = new ThreadLog(client, threadId, createNarrator(screen, client, threadId));
  stack.defer(() => log.close());
  const stage = { ...theatre, log, early: options.early };
  const crashes = await Promise.race([tellStory(stage, options.question, theatre.first), theatre.failure]);
  const search = searchSecret(folder, secret);
  const findings = await checkPromises(client, threadId, { events: log.events, crashes, search });
  const { messages } = await client.getMessages(threadId, { limit: 1000 });
  const { historyLength } = await client.temporal.workflow.getHandle(`thread/${threadId}`).describe();
  printTranscript(screen, messages);
  printPromises(screen, findings);
  printPrice(screen, crashes);
  printPlaces(screen, { temporal, threadId, taskQueue, folder, historyLength, keep: options.keep });
  return findings.every(({ kept }) => kept);
}
