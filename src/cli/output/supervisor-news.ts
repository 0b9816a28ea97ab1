/** Logs what a supervisor reports about the process that it keeps running. */
import { readConfiguration } from '../../configuration.ts';
import type { SupervisorNews } from '../../supervisor/index.ts';
import { createLogger } from './logger.ts';

/** `subject`: what the process is called, such as `worker`. */
export function createNewsLogger(subject: string): (news: SupervisorNews) => void {
  const logger = createLogger(readConfiguration().log);
  const named = subject.charAt(0).toUpperCase() + subject.slice(1);
  return (news) => {
    if (news.kind === 'culprit') {
      const { code, name, threadId, work, stack } = news.culprit;
      const how = `${code} "${name}" crashed its ${subject} process: ${news.how}`;
      logger.error(how, { threadId, work, stack });
    } else if (news.kind === 'slow') {
      const seconds = Math.round(news.forMs / 1000);
      logger.info(`The ${subject} is starting, for ${seconds} s now: it is ${news.doing}`);
    } else {
      const { pid, how, againInMs } = news;
      logger.error(`${named} process ${pid} has ended (${how}): it is restarted in ${againInMs / 1000} s`);
    }
  };
}
