/** The two activities of a step, with empty bodies. */
export const bareActivities = {
  async modelStep(): Promise<void> {},
  async runTool(): Promise<void> {},
};

export type BareActivities = typeof bareActivities;
