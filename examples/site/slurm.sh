#!/bin/bash
# Eight tasks tune together, each on a GPU of its own: sbatch examples/site/slurm.sh
# The password of the store is in ~/.pgpass, which only you can read.
#SBATCH --array=1-8
#SBATCH --gres=gpu:1
#SBATCH --cpus-per-task=16
#SBATCH --time=00:10:00
#SBATCH --signal=TERM@30
#SBATCH --requeue
set -euo pipefail
export TUNE_STORE=${TUNE_STORE:-postgres://tune@db.site/tuned}
exec srun tune --stencil jacobi3d --device "${TUNE_DEVICE:-0}" --share --plain -o "jacobi3d.$SLURM_ARRAY_TASK_ID.json"
