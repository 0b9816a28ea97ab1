/**
 * Temporal's Worker Versioning, if a deployment is configured. Threads are pinned: each stays with its version until it
 * continues as new on the current one (workflows/continue.ts).
 */
import type { NativeConnection, WorkerOptions } from '@temporalio/worker';
import type { Configuration } from '../configuration.ts';

export function versioningOptions({
  deployment,
}: Pick<Configuration, 'deployment'>): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (!deployment) return {};
  return {
    workerDeploymentOptions: {
      version: deployment,
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    },
  };
}

/** Returns a warning if no new thread comes to this version yet, which nothing else would tell. */
export async function findIdleVersion(
  { workflowService }: Pick<NativeConnection, 'workflowService'>,
  namespace: string,
  deployment: Configuration['deployment'],
): Promise<string | undefined> {
  if (!deployment) return undefined;
  const { deploymentName, buildId } = deployment;
  // Unknown until a worker of it has polled.
  const { workerDeploymentInfo } = await workflowService
    .describeWorkerDeployment({ namespace, deploymentName })
    .catch(() => ({ workerDeploymentInfo: null }));
  const { currentDeploymentVersion: current, rampingDeploymentVersion: ramping } =
    workerDeploymentInfo?.routingConfig ?? {};
  if (current?.buildId === buildId || ramping?.buildId === buildId) return undefined;
  return (
    `build ${buildId} of the deployment ${deploymentName}: it is not the current version, so no new thread comes to it. ` +
    `Make it the current one: temporal worker deployment set-current-version --deployment-name ${deploymentName} --build-id ${buildId}`
  );
}
