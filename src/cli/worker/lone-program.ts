/** The program of a lone process: one suspect unit of author work, logged like the work of its worker. */
import { runLoneProgram } from '../../worker/lone-run.ts';
import { createLogListener } from '../output/log-listener.ts';
import { createLogger } from '../output/logger.ts';

runLoneProgram((configured) => {
  const logger = createLogger(configured);
  return { logger, listener: createLogListener(logger) };
});
