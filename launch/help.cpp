#include "launch/help.h"

namespace stagger::launch {

std::string general_help() {
  return R"(stagger: trains deep networks in pipeline stages whose gradients may be stale

Usage:
  stagger train CONFIG [options]      train what a YAML file describes
  stagger describe CONFIG [options]   say what would be trained, and how, without training
  stagger --version                   versions of Stagger and of what it is built on
  stagger COMMAND --help              a command's options

Examples:
  stagger describe configs/quickstart.yaml
  stagger train configs/quickstart.yaml
  stagger train configs/quickstart.yaml --set train.epochs=5 --set pipeline.schedule=bp --output runs/bp

Exit codes: 0 done; 2 the command line or the configuration is wrong; 3 the data cannot be used; 1 anything else;
128 + n when the job was ended by signal n.
)";
}

std::string train_help(const std::string& options) {
  return R"(stagger train: trains what a YAML file describes

Usage:
  stagger train CONFIG [options]

With more than one stage (pipeline.stages) it starts itself again under mpirun, one rank a stage, and prints that command.
Under mpirun or srun it takes part in the job that it finds; the number of ranks must be that of the stages.

)" + options +
         R"(
Any key of the configuration can be set. Values are YAML: quote lists and maps for the shell. Elements of lists are
counted from 0.

Examples:
  stagger train configs/mlp.yaml
  stagger train configs/quickstart.yaml --overwrite --set train.epochs=1
  stagger train configs/quickstart.yaml --set pipeline.dsp='2,2,0;6,3,0' --output runs/slack
  stagger train configs/mlp.yaml --set 'model.hidden=[64, 64]' --set seed=2
  mpirun -n 3 stagger train configs/quickstart.yaml
)";
}

std::string describe_help(const std::string& options) {
  return R"(stagger describe: says what would be trained, and how, without training

Usage:
  stagger describe CONFIG [options]

Prints the schedule in words and, for every stage, its layers, the weights its backward pass uses, its staleness, the
batches in flight and its memory.

)" + options +
         R"(
Examples:
  stagger describe configs/quickstart.yaml
  stagger describe configs/quickstart.yaml --set pipeline.stages=4 --set pipeline.dsp='1,1,1,0;6,4,2,0'
)";
}

}  // namespace stagger::launch
